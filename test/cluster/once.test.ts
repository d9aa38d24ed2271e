import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PassResult } from '../../src/run/botsync.ts';
import { POLL } from '../cli/running-daemon.ts';
import { openHost } from './host-here.ts';
import { createHosts, type HostOptions, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Three sources. */
function sourcesOf(hosts: Hosts): HostOptions {
  for (const name of ['docs', 'news', 'own']) mkdirSync(join(hosts.share, name), { recursive: true });
  const source = (name: string): object => ({
    ...{ name, directory: join(hosts.share, name), keyPrefix: `${name}/` },
  });
  return { config: { sources: [source('docs'), source('news'), source('own')] } };
}

const keys = (hosts: Hosts): string[] =>
  ['docs/a.md', 'news/b.md', 'own/c.md'].filter((key) => hosts.emulator.readContent('bot-1', key) !== null);

describe('a single pass in a cluster', () => {
  test('takes each unit that is free, makes one pass over all, and lets go of them', async () => {
    const hosts = await createHosts(server);
    const options = sourcesOf(hosts);
    hosts.write('docs/a.md', 'a');
    hosts.write('news/b.md', 'b');
    hosts.write('own/c.md', 'c');
    const { sync } = openHost(hosts, 'web1', options);
    const result = await sync.pass();
    expect(result).toMatchObject({ outcome: 'in-sync', sawAll: true, summary: { uploaded: 3 } });
    expect(keys(hosts)).toEqual(['docs/a.md', 'news/b.md', 'own/c.md']);
    expect([await hosts.holder('docs'), await hosts.holder('news')]).toEqual([null, null]);
    expect(await hosts.sql('SELECT name FROM botsync.host'), 'it has left').toEqual([]);

    // Another host knows all of it from the ledger.
    const other = await openHost(hosts, 'web2', options).sync.pass();
    expect(other).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 0, unchanged: 3 } });
    const [pass] = await hosts.sql(
      `SELECT body->'body'->>'summary' AS body FROM botsync.entry WHERE tbl = 'pass' LIMIT 1`,
    );
    expect(String(pass?.['body']), 'each unit has its own pass on record').toContain('"unchanged":1,');
  });

  test('leaves out what other hosts sync, and says who does', async () => {
    const hosts = await createHosts(server);
    const all = sourcesOf(hosts);
    const options = { config: { sources: (all.config?.['sources'] as object[]).slice(0, 2) } };
    hosts.write('own/c.md', 'c');
    const daemon = await openHost(hosts, 'web2', options).sync.start();
    await expect.poll(() => hosts.holder('docs'), POLL).toBe('web2');
    await expect.poll(() => hosts.holder('news'), POLL).toBe('web2');
    const { sync, log } = openHost(hosts, 'web1', all);
    expect(await sync.pass()).toMatchObject({ outcome: 'incomplete', summary: { uploaded: 1 } });
    expect(log).toContain('docs is synced by web2, so it was left out');
    expect(keys(hosts)).toEqual(['own/c.md']);

    const busy = openHost(hosts, 'web3', options).sync.pass();
    await expect(busy).rejects.toMatchObject({
      code: 'busy',
      reason: 'docs is synced by web2, news is synced by web2',
    });
    expect(daemon.impediments).toEqual([]);
    await daemon.stop();

    // No other host is there that might see it.
    rmSync(join(hosts.share, 'news'), { recursive: true });
    const third: PassResult = await openHost(hosts, 'web3', options).sync.pass();
    expect(third).toMatchObject({ outcome: 'halted' });
  });

  test('a file that moved to a source of another unit stays where it was until that one is settled', async () => {
    const hosts = await createHosts(server);
    const { config } = sourcesOf(hosts);
    const removals = { mode: 'delete', maxFraction: 1 };
    const { sync } = openHost(hosts, 'web1', { config: { ...config, removals } });
    hosts.write('docs/a.md', 'a');
    hosts.write('docs/stays.md', 'stays');
    await sync.pass();
    renameSync(join(hosts.share, 'docs', 'a.md'), join(hosts.share, 'news', 'b.md'));
    expect(await sync.pass()).toMatchObject({ summary: { uploaded: 1, removed: 0, toRemove: 1 } });
    expect(keys(hosts)).toEqual(['docs/a.md', 'news/b.md']);
    // A later pass over the other one goes on record, and the next one knows of it.
    const passAgain = async (): Promise<string[]> => {
      await sync.pass();
      return keys(hosts);
    };
    await expect.poll(passAgain, { ...POLL, interval: 300 }).toEqual(['news/b.md']);
  });

  test('tells people of every unit in one conversation', async () => {
    const hosts = await createHosts(server);
    const { emulator } = hosts;
    const options = sourcesOf(hosts);
    const config = {
      ...options.config,
      upload: { attempts: 1 },
      notify: { conversation: { channel: 'channel' } },
    };
    const { sync } = openHost(hosts, 'web1', { config });
    const sources = ['docs', 'news', 'own'];
    for (const source of sources) {
      hosts.write(`${source}/bad.md`, 'x');
      const refused = { kind: 'status', status: 409, type: 'ResourceLockedConflict' } as const;
      emulator.faults.add({ operation: 'upsert', key: `${source}/bad.md`, ...refused });
    }
    const told = (): unknown[] =>
      emulator.listConversations('bot-1').map(({ id }) =>
        emulator
          .listMessages(id)
          .map(({ payload }) => /of (\w+) (?:is|are)/u.exec(String(payload['text']))?.[1])
          .sort(),
      );
    expect(await sync.pass()).toMatchObject({ outcome: 'incomplete' });
    expect(told()).toEqual([sources]);
    emulator.faults.clear();
    expect(await sync.pass()).toMatchObject({ outcome: 'in-sync' });
    expect(told(), 'the next pass goes on in that conversation').toEqual([[...sources, ...sources].sort()]);
  });

  test('takes over what a dead host held, once it has been silent for a lease', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'a');
    await openHost(hosts, 'web1', {}).sync.pass();
    await hosts.sql(
      `UPDATE botsync.unit SET holder = 'gone:1', holder_host = 'gone', epoch = epoch + 1, beat = beat + 1`,
    );
    hosts.write('docs/b.md', 'b');
    const { sync } = openHost(hosts, 'web2', {});
    expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 1 } });
    expect(await hosts.holder()).toBeNull();
  });

  test('sends once more what a dead host may have sent late', async () => {
    const hosts = await createHosts(server);
    const removals = { mode: 'delete', maxFraction: 1, delay: '1ms' };
    const { sync } = openHost(hosts, 'web1', { config: { removals } });
    hosts.write('docs/a.md', 'a');
    hosts.write('docs/b.md', 'b');
    await sync.pass();
    // It was sending them when it was killed.
    await hosts.sql(
      `UPDATE botsync.file SET state = 'sending', body = jsonb_set(body::jsonb, '{state}', '"sending"')::json`,
    );
    expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 2 } });
    const suspects = `SELECT body->'body'->>'key' AS key FROM botsync.entry WHERE tbl = 'suspect' ORDER BY 1`;
    expect(await hosts.sql(suspects)).toEqual([{ key: 'a.md' }, { key: 'b.md' }]);
    expect(await sync.pass(), 'it is too early').toMatchObject({ summary: { uploaded: 0, unchanged: 2 } });
    // It is time, by the clock of whoever comes.
    await hosts.sql(
      `UPDATE botsync.entry SET body = jsonb_set(body::jsonb, '{body,again_at}', '1')::json WHERE tbl = 'suspect'`,
    );
    rmSync(join(hosts.share, 'docs', 'b.md'));
    expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 1, removed: 1 } });
    expect(await hosts.sql(suspects)).toEqual([]);
    expect(await sync.pass()).toMatchObject({ summary: { uploaded: 0, unchanged: 1 } });
  });

  test('sources that are renamed, put together or divided otherwise recognise what the platform has: nothing is sent', async () => {
    const hosts = await createHosts(server);
    const removals = { mode: 'delete', maxFraction: 1 };
    const source = (name: string, directory: string, keyPrefix: string): object => {
      mkdirSync(join(hosts.share, directory), { recursive: true });
      return { name, directory: join(hosts.share, directory), keyPrefix };
    };
    const passWith = async (...sources: object[]): Promise<PassResult['summary'] & { outcome: string }> => {
      const { outcome, summary } = await openHost(hosts, 'web1', {
        config: { sources, removals },
      }).sync.pass();
      return { ...summary, outcome };
    };
    const filesOf = (): Promise<unknown[]> =>
      hosts.sql(
        `SELECT unit.name, count(*)::integer AS files FROM botsync.file JOIN botsync.unit ON unit.id = file.unit
         GROUP BY unit.name ORDER BY unit.name`,
      );
    hosts.write('docs/a.md', 'a');
    hosts.write('docs/b.md', 'b');
    hosts.write('news/c.md', 'c');
    const [docs, news] = [source('docs', 'docs', 'docs/'), source('news', 'news', 'news/')];
    expect(await passWith(docs, news)).toMatchObject({ uploaded: 3, outcome: 'in-sync' });

    // Another name.
    const papers = source('papers', 'docs', 'docs/');
    expect(await passWith(papers, news)).toMatchObject({ outcome: 'in-sync', uploaded: 0, removed: 0 });
    expect(await filesOf()).toEqual([
      { name: 'news', files: 1 },
      { name: 'papers', files: 2 },
    ]);

    // A source whose prefix meets those of both: one unit.
    hosts.write('more/d.md', 'd');
    const more = source('more', 'more', '');
    expect(await passWith(papers, news, more)).toMatchObject({ outcome: 'in-sync', uploaded: 1, removed: 0 });
    expect(await filesOf()).toEqual([{ name: 'more+news+papers', files: 4 }]);

    // Divided again.
    expect(await passWith(papers, news, source('more', 'more', 'more/'))).toMatchObject({
      uploaded: 1,
      removed: 0,
    });
    expect(await filesOf()).toContainEqual({ name: 'papers', files: 2 });
  });

  test('a source that is renamed is synced under its new name once the host that died with the old one is silent', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'a');
    await openHost(hosts, 'web1', {}).sync.pass();
    await hosts.sql(`UPDATE botsync.unit SET holder = 'gone:1', holder_host = 'gone', epoch = epoch + 1`);
    const sources = [{ name: 'papers', directory: join(hosts.share, 'docs') }];
    const daemon = await openHost(hosts, 'web2', { config: { sources } }).sync.start();
    const files = `SELECT unit.name FROM botsync.file JOIN botsync.unit ON unit.id = file.unit`;
    await expect.poll(() => hosts.sql(files), POLL).toEqual([{ name: 'papers' }]);
    await expect.poll(() => hosts.holder('papers'), POLL).toBe('web2');
    await daemon.stop();
    expect(await hosts.holder('docs')).toBeNull();
    const { sync } = openHost(hosts, 'web2', { config: { sources } });
    expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 0, unchanged: 1 } });
  });

  test('ends at once where the database is not to be reached, and says what it came to', async () => {
    const hosts = await createHosts(server);
    const databaseUrl = 'postgres://nobody@127.0.0.1:9/none?sslmode=disable';
    const ended = await hosts.host('web1', { databaseUrl }).run('sync', '--once', '--json');
    expect(ended.code).toBe(3);
    expect(ended.lines()).toMatchObject([{ kind: 'summary', uploaded: 0 }]);
    expect(JSON.parse(ended.stderr)).toMatchObject({ kind: 'error', exitCode: 3 });
  });

  test('is not in sync when a unit could not be synced', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'a');
    const { sync } = openHost(hosts, 'web1', {});
    await sync.pass();
    await hosts.sql(`UPDATE botsync.file SET body = '[1, 2]'`);
    expect(await sync.pass()).toMatchObject({ outcome: 'incomplete', sawAll: false });
    const { code, stdout, stderr } = await hosts.host('web1').run('sync', '--once');
    expect(code).toBe(3);
    expect(stderr).toContain('docs cannot be synced by this host');
    expect(stdout).toContain('NOT IN SYNC, and the pass is incomplete');
  });
});
