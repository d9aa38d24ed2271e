import { describe, expect, test } from 'vitest';
import { Clockwork, type ClockworkHost } from './clockwork.ts';
import { LEASE_MS } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

const BEAT_MS = LEASE_MS / 4;

/** The host that is to have the unit, of two of which both could. */
const FIRST = 'web1';
const SECOND = 'web2';

/** Whether the ledger says that the records of the unit are in doubt. */
async function isInDoubt({ hosts }: Clockwork): Promise<boolean> {
  const [row] = await hosts.sql('SELECT is_in_doubt FROM botsync.unit');
  return row?.['is_in_doubt'] === true;
}

describe('a database that forgets what it took', () => {
  test('has the holder let go of the unit, and the records in doubt until they were compared', async () => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    await world.untilHeldBy(host);
    expect(host.worked?.isInDoubt).toBe(false);
    await host.record('a');
    await world.keep();
    await host.record('b');
    const before = host.worked;
    await world.goBack();
    await world.until(() => host.worked !== null && host.worked !== before, 'it takes it again');
    expect(before?.lease.isOver).toBe(true);
    expect(host.log).toContain('the database went back in time: docs is let go of');
    expect([host.worked?.isInDoubt, await isInDoubt(world), await world.keys()]).toEqual([true, true, ['a']]);
    // Whoever ends before it has compared them leaves that to the next.
    host.stop();
    await world.until(() => host.end !== null, 'it ends');
    const next = world.begin('web2');
    await world.untilHeldBy(next);
    expect(next.worked?.isInDoubt).toBe(true);
    await next.worked?.compared();
    expect(await isInDoubt(world)).toBe(false);
  });

  test('is noticed with the next record as well', async () => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    await world.untilHeldBy(host);
    await host.record('a');
    await world.keep();
    await host.record('b');
    await world.goBack();
    await expect(host.record('c')).rejects.toThrow('another host may hold docs');
    await world.until(() => host.worked?.isInDoubt === true, 'it takes it again');
    expect(await world.keys()).toEqual(['a']);
  });

  test.each([
    ['that held it', 0],
    ['that waited', 1],
  ])('is noticed by a host %s, whose lease ran out meanwhile', async (_, which) => {
    const world = await Clockwork.create(server);
    const [host, other] = [world.begin('web1'), world.begin('web2')];
    await world.until(() => host.worked !== null || other.worked !== null, 'somebody holds it');
    const [holder, waiting] = host.worked === null ? [other, host] : [host, other];
    await holder.record('a');
    await world.keep();
    await holder.record('b');
    await world.pass(BEAT_MS * 2);
    await world.cutOff(holder, waiting);
    await world.goBack();
    const one = which === 0 ? holder : waiting;
    one.isCut = false;
    await world.untilHeldBy(one);
    expect([one.worked?.isInDoubt, await world.keys()]).toEqual([true, ['a']]);
  });
});

describe('a database that forgets who has a unit', () => {
  /** Two hosts, both of which know that the unit has gone from one to the other, and a ledger that does not. */
  async function afterMove(): Promise<{ world: Clockwork; former: ClockworkHost; holder: ClockworkHost }> {
    const world = await Clockwork.create(server);
    const former = world.begin(FIRST);
    await world.untilHeldBy(former);
    await former.record('a');
    await world.keep();
    const holder = world.begin(SECOND);
    former.isCut = true;
    await world.untilHeldBy(holder);
    former.isCut = false;
    await holder.record('b');
    await world.pass(BEAT_MS * 2);
    return { world, former, holder };
  }

  test('does not give it back to the host before as long as the lease of the other may last', async () => {
    const { world, former, holder } = await afterMove();
    holder.isCut = true;
    await world.goBack();
    await world.pass(BEAT_MS);
    expect([holder.worked !== null, former.worked !== null]).toEqual([true, false]);
  });

  test('gives it to one of them after a lease, with its records in doubt', async () => {
    const { world, former, holder } = await afterMove();
    await world.goBack();
    await world.until(() => holder.worked === null, 'it lets go');
    await world.pass(LEASE_MS - BEAT_MS);
    expect([holder.worked, former.worked]).toEqual([null, null]);
    await world.until(() => holder.worked !== null || former.worked !== null, 'somebody takes it');
    await world.pass(LEASE_MS);
    const worked = [holder, former].flatMap((one) => (one.worked === null ? [] : [one.worked.isInDoubt]));
    expect(worked).toEqual([true]);
  });

  test('gives a free unit to nobody before the lease of whoever may have taken it is over', async () => {
    const world = await Clockwork.create(server);
    const holder = world.begin(SECOND);
    await world.untilHeldBy(holder);
    const waiting = world.begin(FIRST);
    await world.pass(BEAT_MS * 2);
    holder.isCut = true;
    await world.hosts.sql('UPDATE botsync.unit SET holder = NULL, epoch = epoch - 1');
    await world.pass(BEAT_MS);
    expect([holder.worked !== null, waiting.worked !== null]).toEqual([true, false]);
  });
});

describe('a database that was down', () => {
  test.each([
    ['that another holds', ''],
    ['that is free, as far as it knows', 'UPDATE botsync.unit SET holder = NULL'],
  ])('gives a unit %s only after a lease in which it could have been proven', async (_, change) => {
    const world = await Clockwork.create(server);
    const holder = world.begin(SECOND);
    await world.untilHeldBy(holder);
    const waiting = world.begin(FIRST);
    await world.pass(BEAT_MS * 2);
    holder.isCut = true;
    // It has seen the last proof of the other.
    await world.pass(BEAT_MS);
    waiting.isCut = true;
    await world.restart();
    await world.hosts.sql(change);
    await world.until(() => holder.worked === null, 'its lease runs out');
    await world.pass(LEASE_MS);
    waiting.isCut = false;
    await world.pass(LEASE_MS - 100);
    expect(waiting.worked).toBeNull();
    await world.untilHeldBy(waiting);
  });
});
