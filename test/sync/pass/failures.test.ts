import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld } from '../world.ts';

test('a file that fails does not stop the others, is tried so often and no more, and again with the next pass', async () => {
  const world = await createWorld({ upload: { attempts: 3 } });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  world.fail('upsert', 500, { key: 'b', times: 3 });
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

test('401 stops everything at once: exit 4, what was not tried is pending, and nothing more is asked', async () => {
  const world = await createWorld({ upload: { concurrency: 1 } });
  for (let n = 0; n < 50; n++) world.write(`docs/${n}`, 'x');
  world.fail('upsert', 401, { type: 'Unauthorized', times: Infinity });
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

test.skipIf(process.getuid?.() === 0)('what cannot be read is a problem, never a removal', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write('docs/a', 'a');
  world.write('docs/sub/b', 'b');
  await world.pass();
  chmodSync(world.at('docs/sub'), 0);
  expect(await world.pass()).toMatchObject({
    exitCode: 3,
    requests: 0,
    summary: { problems: 1, unchanged: 1, kept: 0, toRemove: 1 },
  });
  chmodSync(world.at('docs/sub'), 0o700);
});

test('a token that is refused is told once, as that: nothing is taken for not served', async () => {
  const world = await createWorld({ platform: { operations: 'auto' }, upload: { concurrency: 1 } });
  const { emulator } = world;
  for (let n = 0; n < 3; n++) world.write(`docs/${n}`, 'x');
  const refused = { kind: 'status', status: 401, type: 'Unauthorized', times: Infinity } as const;
  for (const operation of ['list-files', 'upsert'] as const) emulator.faults.add({ operation, ...refused });
  expect(await world.pass()).toMatchObject({ exitCode: 4, warned: [] });
  emulator.faults.clear();
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 3 }, warned: [] });
});
