import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { whenUpserted } from '../../when-upserted.ts';
import { connectTo, createWorld } from '../world.ts';

test('a file that fails does not stop the others, is tried so often and no more, and again with the next pass', async () => {
  const world = await createWorld({ upload: { attempts: 3 } });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  world.emulator.faults.add({ operation: 'upsert', key: 'b', kind: 'status', status: 500, times: 3 });
  const first = await world.pass();
  expect(first).toMatchObject({ exitCode: 3, requests: 2 * 2 + 3, summary: { uploaded: 2, failed: 1 } });
  expect(first.events.find(({ outcome }) => outcome === 'failed')).toMatchObject({
    kind: 'upload',
    path: 'b',
    error: expect.stringContaining('500') as string,
  });
  expect(world.status().failures).toMatchObject([{ source: 'docs', path: 'b', key: 'b', kind: 'failed' }]);
  const second = await world.pass();
  expect(second).toMatchObject({ exitCode: 0, requests: 2, summary: { uploaded: 1, unchanged: 2 } });
  expect(second.events).toMatchObject([{ path: 'b', reason: 'failed-before' }]);
});

test.each([
  ['the upsert', { operation: 'upsert', status: 400, type: 'InvalidPayload' }],
  ['the upsert, as too large', { operation: 'upsert', status: 413, type: 'PayloadTooLarge' }],
  ['the upload', { operation: 'upload', status: 415 }],
] as const)(
  'a file refused at %s is not tried again until it or its settings change',
  async (_what, fault) => {
    const world = await createWorld();
    world.write('docs/a', 'a');
    world.write('docs/b', 'b');
    world.emulator.faults.add({ ...fault, key: 'a', kind: 'status' });
    const refused = await world.pass();
    expect(refused).toMatchObject({ exitCode: 3, summary: { failed: 1, uploaded: 1 } });
    expect(refused.events.find(({ path }) => path === 'a')).toMatchObject({
      kind: 'upload',
      outcome: 'failed',
    });
    const held = await world.pass();
    expect(held).toMatchObject({ exitCode: 3, requests: 0, summary: { refused: 1, unchanged: 1 } });
    expect(held.events).toMatchObject([
      { kind: 'refuse', path: 'a', reason: expect.stringContaining(String(fault.status)) as string },
    ]);
    expect(world.status()).toMatchObject({
      sources: [{ refused: 1 }],
      failures: [{ kind: 'refused', path: 'a' }],
    });
    world.configure({ rules: [{ match: 'a', tags: { now: 'other' } }] });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1 } });
  },
);

test('a refused file that changed is tried again', async () => {
  const world = await createWorld();
  world.write('docs/a', 'a');
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400 });
  await world.pass();
  world.write('docs/a', 'b');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1 } });
});

test('401 stops everything at once: exit 4, what was not tried is pending, and nothing more is asked', async () => {
  const world = await createWorld({ upload: { concurrency: 1 } });
  for (let n = 0; n < 50; n++) world.write(`docs/${n}`, 'x');
  world.emulator.faults.add({
    operation: 'upsert',
    kind: 'status',
    status: 401,
    type: 'Unauthorized',
    times: Infinity,
  });
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 4, summary: { uploaded: 0 } });
  expect(outcome.summary.failed + outcome.summary.pending).toBe(50);
  expect(outcome.requests).toBeLessThanOrEqual(2);
  world.emulator.faults.clear();
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 50 } });
});

test.each([
  ['403 Forbidden', { status: 403, type: 'Forbidden' }],
  ['404 on an upsert', { status: 404, type: 'ResourceNotFound' }],
])('%s stops its bot alone', async (_what, fault) => {
  const world = await createWorld({
    upload: { concurrency: 1 },
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
  });
  mkdirSync(join(world.directory, 'more'));
  for (let n = 0; n < 20; n++) world.write(`docs/a${n}`, 'x');
  for (let n = 0; n < 5; n++) world.write(`more/b${n}`, 'x');
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', ...fault });
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 4, summary: { uploaded: 5, failed: 1, pending: 19 } });
  expect(world.keys('bot-2')).toHaveLength(5);
});

test('a used-up quota stops what takes more room, and the rest goes on', async () => {
  const world = await createWorld({ upload: { concurrency: 1 } }, { quotas: { fileStorageBytes: 100 } });
  world.write('docs/b-small', 'x'.repeat(40));
  world.write('docs/c-shrinks', 'x'.repeat(40));
  await world.pass();
  world.write('docs/a-large', 'x'.repeat(90));
  world.write('docs/c-shrinks', 'x'.repeat(30));
  const LARGE = 20;
  for (let n = 1; n < LARGE; n++) world.write(`docs/d-new-${n}`, 'x'.repeat(90));
  const outcome = await world.pass();
  expect(outcome).toMatchObject({
    exitCode: 3,
    summary: { uploaded: 1, unchanged: 1 },
  });
  expect(outcome.summary.failed + outcome.summary.pending).toBe(LARGE);
  expect(outcome.summary.pending).toBeGreaterThan(0);
  expect(outcome.events.find(({ path }) => path === 'a-large')?.error).toContain('QuotaExceeded');
  expect(world.remote('c-shrinks')).toHaveLength(30);
});

test('when the platform is unreachable one probe at a time goes out, and the pass gives up in the end', async () => {
  const world = await createWorld({ upload: { concurrency: 4, giveUpAfter: '2m', attempts: 2 } });
  for (let n = 0; n < 100; n++) world.write(`docs/${n}`, 'x');
  world.emulator.faults.add({ operation: 'upsert', kind: 'drop', times: Infinity });
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 3, summary: { uploaded: 0 } });
  expect(outcome.summary.failed + outcome.summary.pending).toBe(100);
  expect(outcome.summary.pending).toBeGreaterThan(60);
  // Ten to notice, those under way then, and the probes of two minutes.
  expect(outcome.requests).toBeLessThan(60);
  world.emulator.faults.clear();
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 100 } });
});

test('an outage that ends is only a delay', async () => {
  const world = await createWorld({ upload: { concurrency: 4 } });
  for (let n = 0; n < 40; n++) world.write(`docs/${n}`, 'x');
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 503, times: 9 });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 40, failed: 0 } });
});

test.each([
  [401, 'AccessDenied'],
  [403, 'AccessDenied'],
  [404, 'NoSuchKey'],
  [410, 'Gone'],
])('%i from the upload address is no matter of credentials: a new address is asked for', async (status) => {
  const world = await createWorld();
  world.write('docs/a', 'a');
  world.emulator.faults.add({ operation: 'upload', kind: 'status', status });
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 4, summary: { uploaded: 1 } });
});

test('an answer that was lost, after the upsert or after the upload, ends in sync', async () => {
  const world = await createWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  world.emulator.faults.add({ operation: 'upsert', key: 'a', kind: 'apply-then-drop' });
  world.emulator.faults.add({ operation: 'upload', key: 'b', kind: 'apply-then-drop' });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 2 } });
  expect([world.remote('a'), world.remote('b')]).toEqual(['a', 'b']);
});

test('files to index of a kind that the platform is not known to index draw one warning a kind, and are sent', async () => {
  const world = await createWorld({
    rules: [{ match: '**', index: true }],
    limits: { indexableExtensions: ['md'] },
  });
  for (const name of ['a.md', 'b.XYZ', 'c.xyz', 'd']) world.write(`docs/${name}`, 'x');
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 0, summary: { uploaded: 4 } });
  expect(outcome.warned).toEqual([
    expect.stringContaining('.xyz files'),
    expect.stringContaining('files without an extension'),
  ]);
});

test('files over the limits are refused without a call, or treated as their rule says', async () => {
  const world = await createWorld({
    limits: { indexBytes: 10, fileBytes: 50 },
    rules: [
      { match: '**', index: true },
      { match: 'skip/**', whenTooLargeToIndex: 'skip' },
      { match: 'plain/**', whenTooLargeToIndex: 'upload-without-index' },
    ],
  });
  world.write('docs/fits.md', 'x'.repeat(10));
  world.write('docs/large.md', 'x'.repeat(11));
  world.write('docs/huge.md', 'x'.repeat(51));
  world.write('docs/skip/large.md', 'x'.repeat(11));
  world.write('docs/plain/large.md', 'x'.repeat(11));
  const outcome = await world.pass();
  expect(outcome).toMatchObject({
    exitCode: 3,
    requests: 4,
    summary: { uploaded: 2, refused: 2, skipped: 1 },
  });
  const indexed = world.emulator.listFiles('bot-1').map(({ key, index }) => [key, index]);
  expect(indexed).toEqual([
    ['fits.md', true],
    ['plain/large.md', false],
  ]);
  expect(world.status().sources).toMatchObject([{ refused: 2 }]);
  expect(await world.pass()).toMatchObject({
    exitCode: 3,
    requests: 0,
    summary: { unchanged: 2, refused: 2, skipped: 1 },
  });
  // A limit that is raised changes what the rules come to.
  world.configure({ limits: { indexBytes: 60, fileBytes: 60 } });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 4, unchanged: 1 } });
  expect(world.status().failures).toEqual([]);
});

test('an expiresAt out of range refuses its files and no others, without a call', async () => {
  const world = await createWorld({ rules: [{ match: 'old/**', expiresAt: '2020-01-01T00:00:00Z' }] });
  world.write('docs/old/a', 'a');
  world.write('docs/b', 'b');
  expect(await world.pass()).toMatchObject({
    exitCode: 3,
    requests: 2,
    summary: { uploaded: 1, refused: 1 },
  });
});

test('a file that expires is sent again in time, also when nothing ran in between; one let expire is not', async () => {
  const world = await createWorld({
    rules: [
      { match: 'renewed', expiresIn: '10d' },
      { match: 'let-go', expiresIn: '10d', renew: false },
    ],
  });
  world.write('docs/renewed', 'r');
  world.write('docs/let-go', 'l');
  await world.pass();
  world.clock.advance(7.9 * 86_400_000);
  expect(await world.pass()).toMatchObject({ requests: 0 });
  world.clock.advance(0.2 * 86_400_000);
  const due = await world.pass();
  expect(due).toMatchObject({ exitCode: 0, summary: { renewed: 1, uploaded: 0, unchanged: 1 } });
  expect(due.events).toMatchObject([{ kind: 'renew', path: 'renewed', reason: 'renewal-due' }]);
  world.clock.advance(40 * 86_400_000);
  expect(world.keys()).toEqual([]);
  expect(await world.pass()).toMatchObject({ summary: { renewed: 1, unchanged: 1 } });
  expect(world.keys()).toEqual(['renewed']);
  world.write('docs/let-go', 'changed');
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
});

test('sockets, FIFOs and links are passed over and counted', async () => {
  const world = await createWorld();
  world.write('docs/a', 'a');
  execFileSync('mkfifo', [join(world.directory, 'docs/fifo')]);
  symlinkSync('a', join(world.directory, 'docs/link'));
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, skipped: 2 } });
});

test('"inside" follows links that stay within the source, "follow" all, and loops end', async () => {
  const world = await createWorld();
  world.write('outside/secret', 's');
  world.write('docs/sub/a', 'a');
  symlinkSync('sub/a', join(world.directory, 'docs/in'));
  symlinkSync('../outside', join(world.directory, 'docs/out'));
  symlinkSync('..', join(world.directory, 'docs/sub/loop'));
  const inside = { directory: './docs', symlinks: 'inside' };
  world.configure({ sources: [inside] });
  await world.pass();
  expect(world.keys()).toEqual(['in', 'sub/a']);
  world.configure({ sources: [{ ...inside, symlinks: 'follow' }] });
  await world.pass();
  expect(world.keys()).toEqual(['in', 'out/secret', 'sub/a']);
});

test.skipIf(process.getuid?.() === 0)('what cannot be read is a problem, never a removal', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write('docs/a', 'a');
  world.write('docs/sub/b', 'b');
  await world.pass();
  chmodSync(join(world.directory, 'docs/sub'), 0);
  expect(await world.pass()).toMatchObject({
    exitCode: 3,
    requests: 0,
    summary: { problems: 1, unchanged: 1, kept: 0, toRemove: 1 },
  });
  chmodSync(join(world.directory, 'docs/sub'), 0o700);
});

test('while part of a source cannot be seen, nothing of it is removed', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  await world.pass();
  rmSync(join(world.directory, 'docs/a'));
  // A name so long that the path cannot be looked at from where the source starts, whoever asks.
  let deep = join(world.directory, 'docs');
  const cwd = process.cwd();
  try {
    process.chdir(deep);
    for (let depth = 0; depth < 20; depth++) {
      deep = 'd'.repeat(250);
      mkdirSync(deep);
      process.chdir(deep);
    }
  } finally {
    process.chdir(cwd);
  }
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { problems: 1, removed: 0 } });
  expect(world.keys()).toEqual(['a', 'b']);
  execFileSync('rm', ['-r', join(world.directory, 'docs', 'd'.repeat(250))]);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
});

test('a file that grows while it is sent is sent again, and only what was read whole counts', async () => {
  const world = await createWorld();
  world.write('docs/log', Buffer.alloc(3_000_000, 'a'));
  const file = join(world.directory, 'docs/log');
  const connection = connectTo(world.emulator, world.config(), world.clock);
  onTestFinished(connection.close);
  let cuts = 0;
  const outcome = await world.pass({
    report: {
      event: () => undefined,
      warn: () => undefined,
      sent: () => undefined,
      retrying: (_path, reason) => {
        cuts += 1;
        expect(reason).toContain('changed while it was read');
      },
    },
    platform: whenUpserted(connection.platform, (upserts) => {
      if (upserts === 1) truncateSync(file, 1_000_000);
    }),
  });
  expect(cuts).toBe(1);
  expect(outcome).toMatchObject({ exitCode: 0, summary: { uploaded: 1, bytes: 1_000_000 } });
  expect(world.remote('log')).toHaveLength(1_000_000);
});

test('a token that is refused is told once, as that: nothing is taken for not served', async () => {
  const world = await createWorld({ upload: { concurrency: 1 } });
  const { emulator } = world;
  world.configure({ platform: { botId: 'bot-1', baseUrl: emulator.baseUrl, operations: 'auto' } });
  for (let n = 0; n < 3; n++) world.write(`docs/${n}`, 'x');
  const refused = { kind: 'status', status: 401, type: 'Unauthorized', times: Infinity } as const;
  for (const operation of ['list-files', 'upsert'] as const) emulator.faults.add({ operation, ...refused });
  expect(await world.pass()).toMatchObject({ exitCode: 4, warned: [] });
  emulator.faults.clear();
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 3 }, warned: [] });
});
