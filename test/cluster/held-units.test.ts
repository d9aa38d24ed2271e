import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseError } from '../../src/cluster/shared-ledger.ts';
import { Clockwork } from './clockwork.ts';
import { LEASE_MS } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Part of the statement that takes a unit. */
const CLAIM = 'greatest(epoch, $1) + 1';

test.each(['stop', 'breakOff'] as const)(
  'a host that is told to end (%s) while it takes a unit does not go on to work on it',
  async (how) => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    host.asks = (text) => {
      if (text.includes(CLAIM)) host[how]();
      return Promise.resolve();
    };
    await world.until(() => host.end !== null, 'it ends');
    expect(host.log).toContain('docs is synced by this host now');
    expect(await world.hosts.sql('SELECT epoch::integer, holder IS NULL AS free FROM botsync.unit')).toEqual([
      { epoch: 1, free: how === 'stop' },
    ]);
  },
);

test('what the platform asks one host to wait is kept by all, also by one that comes later', async () => {
  const world = await Clockwork.create(server);
  const [one, other] = [world.begin('web1'), world.begin('web2')];
  one.askedForMs = 60_000;
  await world.until(() => other.heardMs > 0, 'the other one hears of it');
  const late = world.begin('web3');
  await world.until(() => late.heardMs > 0, 'so does the late one');
  for (const { heardMs } of [other, late]) {
    expect(heardMs).toBeGreaterThan(20_000);
    expect(heardMs).toBeLessThanOrEqual(60_000);
  }
  expect(one.heardMs, 'nobody hears of its own pause').toBe(0);
});

/** Parts of the questions with which a unit is loaded. */
const LOADING = ['SELECT id, base_url', "string_agg(body::text, ',')", 'count(*) AS count', 'key_hash >= $2'];

test('a unit is loaded although the database does not answer now and then', async () => {
  const world = await Clockwork.create(server);
  const host = world.begin('web1');
  await world.untilHeldBy(host);
  await host.record('a');
  await world.cutOff(host);
  let silent = [...LOADING];
  host.asks = (text) => {
    const about = silent.find((part) => text.includes(part));
    silent = silent.filter((part) => part !== about);
    if (about === undefined) return Promise.resolve();
    return Promise.reject(new DatabaseError('unreachable', 'no answer'));
  };
  host.isCut = false;
  const before = host.log.length;
  const beganAtMs = world.clock.monotonic();
  await world.untilHeldBy(host);
  expect(silent).toEqual([]);
  expect(world.clock.monotonic() - beganAtMs).toBeLessThan(2 * LEASE_MS);
  const said = host.log.slice(before);
  expect(said).toContain('docs waits for the database: no answer');
  expect(said.filter((line) => line.includes('cannot be'))).toEqual([]);
  expect(await world.keys()).toEqual(['a']);
});

test('a host that is stopped lets go of a unit that the database does not let it load, and says nothing of a failure', async () => {
  const world = await Clockwork.create(server);
  const host = world.begin('web1');
  host.asks = (text) => {
    if (!text.includes(LOADING[0] as string)) return Promise.resolve();
    host.stop();
    return Promise.reject(new DatabaseError('unreachable', 'no answer'));
  };
  await world.until(() => host.end !== null, 'it ends');
  expect(host.log.filter((line) => line.includes('cannot be'))).toEqual([]);
  expect(await world.hosts.sql('SELECT holder FROM botsync.unit')).toEqual([{ holder: null }]);
});

test('a host whose part ends by a defect breaks off the work on its units before it says so', async () => {
  const world = await Clockwork.create(server);
  const host = world.begin('web1');
  await world.untilHeldBy(host);
  const lease = host.worked?.lease;
  const defect = new Error('a defect');
  host.isToFail = true;
  host.asks = (text) => (text.includes('WITH mine') ? Promise.reject(defect) : Promise.resolve());
  await world.until(() => host.end !== null, 'it ends');
  expect(host.end).toEqual({ error: defect });
  expect(host.worked).toBeNull();
  expect(lease?.isOver).toBe(true);
});

test('a unit whose records cannot be copied to the disk of this host is not synced, and the message says where', async () => {
  const world = await Clockwork.create(server);
  const directory = `${join(world.hosts.host('web1').directory, 'state.db')}.units`;
  writeFileSync(directory, 'no directory');
  const host = world.begin('web1');
  await world.until(() => host.log.some((line) => line.includes('cannot be synced')), 'it is told');
  const said = host.log.find((line) => line.includes('cannot be synced'));
  expect(said).toContain(
    `docs cannot be synced by this host: this host's copy of the records (${directory}/`,
  );
  expect(said).toContain('check that the disk has room');
});
