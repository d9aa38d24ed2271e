import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createSite, run, start, type Site } from './binary.ts';
import { launch, POLL, status } from './running-daemon.ts';
import { converse, hasTerminal } from './terminal.ts';

/** A site whose platform says what became of files; markdown is indexed. */
const askedSite = (options: Parameters<typeof createSite>[1] = {}, fields: object = {}): Promise<Site> =>
  createSite({ rules: [{ match: '*.md', index: true }], ...fields }, options, 'auto');

describe('sync --once', () => {
  test('waits for what it sent, and says so line by line', async () => {
    const site = await askedSite({ indexingDelayMs: 1500 });
    site.write('docs/a.md', 'one');
    site.write('docs/b.bin', 'two');
    const ended = await site.sync();
    expect(ended.code).toBe(0);
    const lines = ended.lines();
    expect(lines.filter(({ kind }) => kind === 'confirm')).toEqual([
      {
        ...{ kind: 'confirm', source: 'docs', path: 'b.bin', key: 'b.bin' },
        ...{ reason: 'upload_completed', outcome: 'stored' },
      },
      {
        ...{ kind: 'confirm', source: 'docs', path: 'a.md', key: 'a.md' },
        ...{ reason: 'indexing_completed', outcome: 'searchable' },
      },
    ]);
    expect(lines.at(-1)).toMatchObject({ kind: 'summary', uploaded: 2, unconfirmed: 0, failed: 0 });
    const again = await site.sync();
    expect(again.lines()).toMatchObject([{ kind: 'summary', unchanged: 2 }]);
    expect((await status(site))['sources']).toMatchObject([
      { files: 2, stored: 1, searchable: 1, unconfirmed: 0, unsearchable: 0 },
    ]);
  });

  test.each([
    ['--no-wait', []],
    ['--wait', ['1500ms']],
  ])('%s leaves the rest to the next run', async (option, value) => {
    const site = await askedSite({ indexingDelayMs: 4000 });
    site.write('docs/a.md', 'one');
    const first = await site.sync(option, ...value);
    expect(first.code).toBe(0);
    expect(first.lines().at(-1)).toMatchObject({ kind: 'summary', uploaded: 1, unconfirmed: 1 });
    expect((await run(site.directory, ['status'], site.env)).stdout).toContain('1 being indexed');
    const second = await site.sync();
    expect(second.lines()).toMatchObject([
      { kind: 'confirm', outcome: 'searchable' },
      { kind: 'summary', uploaded: 0, unchanged: 1, unconfirmed: 0 },
    ]);
  });

  test('confirm.wait of the configuration counts where no option does', async () => {
    const site = await askedSite({ indexingDelayMs: 600_000 }, { confirm: { wait: '1200ms' } });
    site.write('docs/a.md', 'one');
    const ended = await run(site.directory, ['sync', '--once'], site.env);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(
      /^Sent, but the platform has not confirmed everything yet: 1 uploaded, 1 not/u,
    );
  });

  test('a file that cannot be searched is a failure now, and in every pass that holds it', async () => {
    const site = await askedSite({ failIndexing: ['a.md'] });
    site.write('docs/a.md', 'one');
    const first = await run(site.directory, ['sync', '--once'], site.env);
    expect(first.code).toBe(3);
    expect(first.stdout).toMatch(/^Failed \(1\): could not be indexed: .*\n {2}docs\/a\.md\nNOT IN SYNC/u);
    const second = await site.sync();
    expect(second.code).toBe(3);
    expect(second.lines()).toMatchObject([
      { kind: 'confirm', path: 'a.md', outcome: 'failed' },
      { kind: 'summary', failed: 1, unchanged: 0 },
    ]);
    const explained = await run(site.directory, ['explain', 'docs/a.md'], site.env);
    expect(explained.stdout).toMatch(
      /^Platform: has the content, but the bot cannot search it \(last checked at /mu,
    );
    // Until two seconds after it was written every pass reads it again.
    const afterAPass = async (): Promise<string> => {
      await site.sync();
      return (await run(site.directory, ['explain', 'docs/a.md'], site.env)).stdout;
    };
    await expect
      .poll(afterAPass, POLL)
      .toMatch(/^A pass: {2}does nothing \(sent, and not changed since; could not be indexed/mu);
    expect((await run(site.directory, ['status'], site.env)).stdout).toContain('1 NOT SEARCHABLE');
    expect((await site.sync('--force')).lines()[0]).toMatchObject({ kind: 'upload', reason: 'forced' });
  });

  const REFUSED = { kind: 'failing-uploads', keys: 'a.md', reason: 'Checksum mismatch' } as const;

  test('what the platform refused after all is sent again by the same run', async () => {
    const site = await askedSite();
    await site.emulator.conditions.set(REFUSED);
    site.write('docs/a.md', 'one');
    site.write('docs/b.bin', 'two');
    const running = start(site.directory, ['sync', '--once', '--json', '--wait', '1m'], site.env);
    const statuses = (): unknown => site.emulator.listFiles('bot-1').map(({ status }) => status);
    await expect.poll(statuses, POLL).toContain('upload_failed');
    await site.emulator.conditions.clear();
    const ended = await running.ended;
    expect(ended.code).toBe(0);
    const events = ended.lines().map(({ kind, path, reason }) => [kind, path, reason].join(' '));
    expect(events.filter((event) => event.includes('a.md'))).toEqual([
      'upload a.md new',
      'upload a.md failed-before',
      'confirm a.md indexing_completed',
    ]);
    expect(ended.lines().at(-1)).toMatchObject({ uploaded: 3, failed: 0, unconfirmed: 0 });
    expect(site.emulator.readContent('bot-1', 'a.md')?.toString()).toBe('one');
  });

  test('and as often as upload.attempts says', async () => {
    const site = await askedSite({}, { upload: { attempts: 2 } });
    await site.emulator.conditions.set(REFUSED);
    site.write('docs/a.md', 'one');
    const ended = await site.sync('--wait', '1m');
    expect(ended.code).toBe(3);
    expect(site.emulator.counts.get('upsert')).toBe(2);
    expect(ended.lines().filter(({ kind }) => kind === 'confirm')).toMatchObject([
      { path: 'a.md', outcome: 'failed', error: 'the platform refused the content: Checksum mismatch' },
    ]);
    expect(ended.lines().at(-1)).toMatchObject({ uploaded: 2, failed: 1, unconfirmed: 0 });
  });

  test('and by the next run where this one does not wait so long', async () => {
    const site = await askedSite();
    await site.emulator.conditions.set(REFUSED);
    site.write('docs/a.md', 'one');
    const first = await site.sync('--wait', '3s');
    expect(first.code).toBe(3);
    expect(first.lines().at(-1)).toMatchObject({ uploaded: 1, failed: 1, unconfirmed: 0 });
    await site.emulator.conditions.clear();
    const second = await site.sync();
    expect(second.code).toBe(0);
    expect(second.lines()[0]).toMatchObject({ kind: 'upload', reason: 'failed-before' });
  });

  test('an interruption while it waits ends it at once, and nothing is lost', async () => {
    const site = await askedSite({ indexingDelayMs: 600_000 });
    site.write('docs/a.md', 'one');
    const running = start(site.directory, ['sync', '--once', '--wait', '10m'], site.env);
    // The first list is for what the platform has already.
    await expect.poll(() => site.emulator.counts.get('list-files') ?? 0, POLL).toBeGreaterThan(1);
    const atMs = performance.now();
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(performance.now() - atMs).toBeLessThan(5000);
    expect(ended.stdout).not.toContain('the pass is incomplete');
    expect((await status(site))['sources']).toMatchObject([{ unconfirmed: 1, failed: 0 }]);
  });

  test('a list that is none is asked for once more, and nobody waits for it', async () => {
    const site = await askedSite();
    for (const operation of ['list-files', 'get-file'])
      site.emulator.faults.add({ operation, kind: 'garbage', times: Infinity });
    site.write('docs/a.md', 'one');
    const first = await site.sync();
    expect(first.code).toBe(0);
    expect(first.lines().at(-1)).toMatchObject({ uploaded: 1, unconfirmed: 1 });
    expect(first.stderr).toContain('its files cannot be listed');
    expect(first.stderr).toContain('it does not say whether it has the files that were sent');
    expect(site.emulator.counts.get('list-files')).toBe(4);
    site.emulator.faults.clear();
    expect((await site.sync()).lines()).toMatchObject([{ kind: 'confirm', outcome: 'searchable' }, {}]);
  });

  test('a platform that does not answer the question is not waited for any longer', async () => {
    const site = await askedSite();
    site.emulator.faults.add({ operation: 'list-files', kind: 'hang', times: Infinity, after: 1 });
    site.write('docs/a.md', 'one');
    const atMs = performance.now();
    const ended = await site.sync('--wait', '2s');
    expect(ended.code).toBe(0);
    expect(performance.now() - atMs).toBeLessThan(8000);
    expect(ended.lines().at(-1)).toMatchObject({ uploaded: 1, unconfirmed: 1 });
  });

  test('a platform that does not serve the question is told of once, and not waited for', async () => {
    const site = await askedSite({ operations: 'specified' });
    site.write('docs/a.md', 'one');
    const first = await site.sync();
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('uploads cannot be confirmed');
    const second = await run(site.directory, ['status'], site.env);
    expect(second.stdout).toMatch(/^docs: 1 file in sync, 3 B \(1 sent, not confirmed\)$/mu);
    expect((await site.sync()).stderr).toBe('');
  });

  test.each([
    [['--wait', 'soon'], '--wait: "soon" is not a duration'],
    [['--wait', '0s'], '--wait: "0s" is zero'],
    [['--wait', '30d'], '--wait: "30d" is too long; write at most "24d"'],
    [['--wait', '1m', '--no-wait'], 'use only one of them'],
  ])('%j is refused', async (options, message) => {
    const site = await askedSite();
    const ended = await site.sync(...options);
    expect(ended.code).toBe(2);
    expect(JSON.parse(ended.stderr)).toMatchObject({ message: expect.stringContaining(message) as unknown });
  });

  test('a daemon takes neither option', async () => {
    const site = await askedSite();
    const ended = await run(site.directory, ['sync', '--no-wait'], site.env);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('need --once');
  });

  test.runIf(hasTerminal)('on a terminal a line says what is waited for', async () => {
    const site = await askedSite({ indexingDelayMs: 2500 });
    site.write('docs/a.md', 'one');
    site.write('docs/b.bin', 'two');
    const { code, screen } = await converse(site.directory, ['sync', '--once'], site.env, []);
    expect(code).toBe(0);
    expect(screen).toContain('2 sent, 2 being indexed');
    expect(screen).toContain('2 sent, 1 stored, 1 being indexed');
    expect(stripVTControlCharacters(screen)).toMatch(/In sync: 2 uploaded/u);
  });
});

test('a daemon confirms beside its passes, and its metrics say so', async () => {
  const site = await askedSite({}, { service: { listen: '127.0.0.1:0' } });
  site.write('docs/a.md', 'one');
  site.write('docs/b.bin', 'two');
  const daemon = await launch(site);
  const listening = (): string =>
    daemon
      .log()
      .map(({ msg, address }) => (String(msg).includes('listening') ? String(address) : ''))
      .join('');
  const sources = async (): Promise<unknown> => (await status(site))['sources'];
  await expect.poll(sources, POLL).toMatchObject([{ files: 2, stored: 1, searchable: 1, unconfirmed: 0 }]);
  expect(listening()).not.toBe('');
  const metrics = await (await fetch(`http://${listening()}/metrics`)).text();
  expect(metrics).toContain('botsync_files_in_sync{source="docs",word="searchable"} 1');
  expect(metrics).toContain('botsync_files{source="docs",state="unconfirmed"} 0');
  expect(metrics).toMatch(/botsync_requests_total\{operation="list",outcome="ok"\} [1-9]/u);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});
