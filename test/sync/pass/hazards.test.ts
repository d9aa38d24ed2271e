import { symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { failed, ok, type Outcome } from '../../../src/domain/failure.ts';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import { StateFileError } from '../../../src/store/database.ts';
import { whenUpserted } from '../../when-upserted.ts';
import { createSyncedWorld, createWorld, numbered } from '../world.ts';

/** Each of these once lost something, removed something, or told something that was not so. */

const EXPIRE = { removals: { mode: 'expire' } };

function stopped(): AbortSignal {
  return AbortSignal.abort();
}

test('an interrupted pass does not accept a replaced directory, nor forget that a source is halted', async () => {
  const world = await createSyncedWorld(numbered(8), EXPIRE);
  world.move('docs', 'old');
  world.write('docs/other', 'y');
  expect(await world.pass({ stop: stopped() })).toMatchObject({ exitCode: 130 });
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  await world.pass({ stop: stopped() });
  expect(world.status().sources[0]?.halted).toContain('not the same directory');
});

test('another device with the same inode is another directory', async () => {
  const world = await createSyncedWorld(numbered(8), EXPIRE);
  // As when another file system was mounted there: their roots have the same inode.
  world.sql("UPDATE source SET identity = '99999:' || substr(identity, instr(identity, ':') + 1)");
  for (let n = 0; n < 7; n++) world.remove(`docs/${n}`);
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
});

test('behind a link that leads nowhere nothing counts as removed', async () => {
  const world = await createWorld({ ...EXPIRE, sources: [{ directory: './docs', symlinks: 'follow' }] });
  world.write('docs/a', 'a');
  world.write('shared/s', 's');
  symlinkSync('../shared', world.at('docs/link'));
  await world.pass();
  world.move('shared', 'unmounted');
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 0, problems: 1, kept: 0 } });
  expect(world.remote('link/s')).toBe('s');
});

test.each([
  ['refused by the platform', 'new'],
  ['refused here', 'new.bad'],
])('a renamed file that is %s stays under its old key, in later passes as well', async (_what, name) => {
  const world = await createWorld({
    ...EXPIRE,
    rules: [{ match: '*.bad', expiresAt: '2020-01-01T00:00:00Z' }],
  });
  world.write('docs/old', 'content');
  world.write('docs/other', 'o');
  await world.pass();
  world.move('docs/old', `docs/${name}`);
  world.fail('upsert', 400, { key: 'new' });
  for (let passes = 0; passes < 3; passes++) {
    expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 0, pending: 1 } });
  }
  expect(world.remote('old')).toBe('content');
});

test('a file that cannot be sent holds back no removal but its own', async () => {
  const world = await createWorld(EXPIRE, { quotas: { fileStorageBytes: 100 } });
  world.write('docs/old', 'x'.repeat(80));
  world.write('docs/other', 'o');
  await world.pass();
  world.remove('docs/old');
  world.write('docs/new', 'y'.repeat(90));
  // Nothing can be sent before the removal has made room.
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 1, failed: 1 } });
  world.clock.advance(180_000);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1 } });
});

test('a new file that vanished after its upsert was taken is removed from the platform', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  world.fail('upload', 500, { key: 'a' });
  const report = { event: () => undefined };
  await world.pass({
    report: {
      ...report,
      retrying: () => {
        world.remove('docs/a');
      },
    },
  });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  world.clock.advance(180_000);
  expect(world.keys()).toEqual(['b']);
});

test('so is one whose sending was cut off, and one refused after an attempt that was taken', async () => {
  const world = await createWorld(EXPIRE);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  world.fail('upload', 500, { key: 'b' });
  world.fail('upsert', 400, { key: 'b', after: 1 });
  await world.pass();
  // As a killed process leaves it.
  world.sql("UPDATE file SET state = 'sending', uploaded = 0, sha256 = NULL WHERE key = 'a'");
  world.remove('docs/a');
  world.remove('docs/b');
  expect(await world.pass()).toMatchObject({ summary: { removed: 2 } });
  world.clock.advance(180_000);
  expect(world.keys()).toEqual(['c']);
});

test('a file replaced by a directory, and a directory replaced by a file', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/a', 'a');
  world.write('docs/d/x', 'x');
  world.write('docs/z', 'z');
  await world.pass();
  world.remove('docs/a');
  world.write('docs/a/inner', 'i');
  world.remove('docs/d');
  world.write('docs/d', 'now a file');
  expect((await world.plan()).summary).toMatchObject({ uploaded: 2, removed: 2 });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 2, removed: 2 } });
  world.clock.advance(180_000);
  expect(world.keys()).toEqual(['a/inner', 'd', 'z']);
});

test('a source all of whose files are newly ignored is not an emptied one', async () => {
  const world = await createWorld();
  world.write('docs/a.md', 'x');
  await world.pass();
  world.configure({ sources: [{ directory: './docs', ignore: ['*.md'] }] });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { kept: 1 } });
});

test('an emptied source is known as one beside a name that can never be synced', async () => {
  const world = await createSyncedWorld(['a'], EXPIRE);
  world.remove('docs/a');
  writeFileSync(Buffer.concat([Buffer.from(world.at('docs/')), Buffer.from([0xff])]), 'x');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
});

test.each([
  ['another prefix', { directory: './docs', keyPrefix: 'docs/' }],
  ['another bot', { directory: './docs', botId: 'bot-2' }],
])('a collision that %s has mended is over', async (_what, mended) => {
  const world = await createWorld({ sources: [{ directory: './docs' }, { directory: './more' }] });
  world.write('docs/x', 'docs');
  world.write('more/x', 'more');
  expect(await world.pass()).toMatchObject({ exitCode: 3 });
  world.configure({ sources: [mended, { directory: './more' }] });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { problems: 0 } });
  expect(world.remote('x')).toBe('more');
});

test('the fraction of removals is taken of what there was, not of what came: dry run and pass agree', async () => {
  const world = await createWorld(EXPIRE);
  for (let n = 0; n < 30; n++) world.write(`docs/old-${n}`, 'x');
  await world.pass();
  for (let n = 0; n < 30; n++) {
    world.remove(`docs/old-${n}`);
    world.write(`docs/new-${n}`, 'yy');
  }
  expect(await world.plan()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0, uploaded: 30 } });
});

test('removals know an outage as well', async () => {
  const world = await createSyncedWorld(numbered(100), EXPIRE);
  for (let n = 0; n < 40; n++) world.remove(`docs/${n}`);
  world.fail('upsert', 500, { times: Infinity });
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 3, summary: { removed: 0 } });
  // A probe every five seconds for two minutes, and what ran when it began.
  expect(outcome.requests).toBeLessThan(50);
  world.emulator.faults.clear();
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 40 } });
});

test('status: not of another bot, not what has expired, nothing twice', async () => {
  const world = await createWorld({ upload: { attempts: 1 }, limits: { fileBytes: 10 } });
  world.write('docs/a', 'a');
  world.fail('upsert', 500);
  await world.pass();
  world.configure({
    sources: [{ directory: './docs', botId: 'bot-2' }],
    rules: [{ match: '**', expiresIn: '1d' }],
  });
  await world.pass();
  expect(world.status()).toMatchObject({ failures: [], sources: [{ files: 1, failed: 0 }] });
  world.write('docs/a', 'a'.repeat(20));
  await world.pass();
  expect(world.status()).toMatchObject({ sources: [{ files: 0, refused: 1 }] });
  world.write('docs/a', 'a');
  await world.pass();
  expect(world.status()).toMatchObject({ sources: [{ files: 1, refused: 0 }] });
  world.clock.advance(2 * 86_400_000);
  expect(world.status()).toMatchObject({ sources: [{ files: 0 }] });
});

test('what was only in hand when a pass was stopped, or gave up, keeps its record', async () => {
  const world = await createSyncedWorld(numbered(40), {
    upload: { concurrency: 1, attempts: 1, giveUpAfter: '1s' },
  });
  world.emulator.faults.add({ operation: 'upsert', kind: 'drop', times: Infinity });
  const outcome = await world.pass({ isForced: () => true });
  world.emulator.faults.clear();
  expect(outcome.summary.pending).toBeGreaterThan(20);
  expect(world.status().failures.map(({ kind }) => kind)).not.toContain('sending');
  // What they are now was not sent, so none counts as in sync.
  expect(world.status().failures.filter(({ kind }) => kind === 'pending')).toHaveLength(
    outcome.summary.pending,
  );
});

test.each(['429', '503', '500'])(
  'a platform that asks for days of patience (%s) is not waited for',
  async (status) => {
    const world = await createWorld({ upload: { giveUpAfter: '2s' } });
    for (let n = 0; n < 3; n++) world.write(`docs/${n}`, 'x');
    const headers = { 'retry-after': '999999' };
    world.fail('upsert', Number(status), { headers, times: Infinity });
    const before = world.clock.monotonic();
    expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { uploaded: 0 } });
    expect(world.clock.monotonic() - before).toBeLessThan(60_000);
  },
);

test('when the state file fails, nothing is under way any more once the pass has ended', async () => {
  const world = await createWorld({ upload: { concurrency: 2 } });
  for (let n = 0; n < 300; n++) world.write(`docs/${n}`, 'x');
  let underWay = 0;
  const slowly = async <T>(value: T): Promise<Outcome<T>> => {
    underWay += 1;
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
    underWay -= 1;
    return ok(value);
  };
  const platform: FilePlatform = {
    now: world.clock.now,
    isTimeKnown: () => false,
    storeBytesPerSecond: () => null,
    upsert: () =>
      slowly({ uploadUrl: new URL('http://127.0.0.1/'), contentType: 'text/plain', url: null, id: null }),
    upload: () => slowly(null),
  };
  let events = 0;
  const report = {
    event: () => {
      if (++events === 5) throw new StateFileError('unwritable', 'disk full');
    },
  };
  await expect(world.pass({ report, platform })).rejects.toThrow('disk full');
  expect(underWay).toBe(0);
  expect(events).toBeLessThan(10);
});

test('what a stop breaks off has not failed: it waits for the next start, which sends it', async () => {
  const world = await createWorld();
  world.write('docs/a', 'a');
  const platform = world.connect();
  const stopped = new AbortController();
  const stopsMeanwhile = whenUpserted(platform, () => {
    stopped.abort();
  });
  const { signal } = stopped;
  expect(await world.pass({ platform: stopsMeanwhile, stop: signal, abort: signal })).toMatchObject({
    exitCode: 130,
    summary: { uploaded: 0, failed: 0, pending: 1 },
  });
  expect(world.status().failures).toMatchObject([{ path: 'a', kind: 'sending' }]);
  const next = await world.pass();
  expect(next.events).toMatchObject([{ path: 'a', reason: 'interrupted', outcome: 'done' }]);
});

test('a stop while a new file waits for its first request leaves no intent behind', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write('docs/a', 'a');
  const abort = new AbortController();
  const platform: FilePlatform = {
    now: world.clock.now,
    isTimeKnown: () => false,
    storeBytesPerSecond: () => null,
    upsert: () => {
      abort.abort();
      return Promise.resolve(failed({ kind: 'transient', message: 'interrupted', notCarriedOut: true }));
    },
    upload: () => Promise.reject(new Error('nothing is uploaded')),
  };
  const outcome = await world.pass({ platform, abort: abort.signal, stop: abort.signal });
  expect(outcome.summary).toMatchObject({ pending: 1, failed: 0 });
  expect(world.status().failures).toEqual([]);
  world.remove('docs/a');
  expect(await world.pass({ allowRemovals: true })).toMatchObject({ requests: 0, exitCode: 0 });
});
