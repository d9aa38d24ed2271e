import { describe, expect, test } from 'vitest';
import { bestHost } from '../../src/domain/assignment.ts';
import { Clockwork, type ClockworkHost } from './clockwork.ts';
import { LEASE_MS } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

const BEAT_MS = LEASE_MS / 4;

const NAMES = ['web1', 'web2'];

/** The host that is to have the unit, of two of which both could. */
const FIRST = bestHost(
  'docs',
  NAMES.map((host) => ({ host, weight: 1 })),
) as string;
const SECOND = NAMES.find((name) => name !== FIRST) as string;

describe('a database that forgets what it took', () => {
  test('is told all of it again, also of what does not change', async () => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    await world.untilHeldBy(host);
    await host.record('a');
    await world.keep();
    await host.record('b');
    await world.goBack();
    await world.until(async () => (await world.keys()).length === 2, 'it is on record again');
    expect(host.log).not.toContain('docs is not synced by this host any more');
  });

  test('is told it by a host whose lease ran out meanwhile', async () => {
    const world = await Clockwork.create(server);
    const [host, other] = [world.begin('web1'), world.begin('web2')];
    await world.until(() => host.worked !== null || other.worked !== null, 'somebody holds it');
    const [holder, waiting] = host.worked === null ? [other, host] : [host, other];
    await holder.record('a');
    await world.keep();
    await holder.record('b');
    await world.cutOff(holder, waiting);
    await world.goBack();
    for (const one of [holder, waiting]) one.isCut = false;
    await world.until(async () => (await world.keys()).length === 2, 'it is on record again');
    expect(holder.worked).not.toBeNull();
  });

  test('is told the rest later, where the lease ran out while it was told', async () => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    await world.untilHeldBy(host);
    const names = Array.from({ length: 4500 }, (_, i) => `f${i}`);
    for (const name of names.slice(1)) void host.record(name);
    await host.record('f0');
    await world.keep();
    await host.record('last');
    await world.goBack();
    // It takes one shipment, and none of those after it.
    await world.hosts.sql(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM botsync.file) > 2000 THEN RAISE 'not now' USING ERRCODE = '40P01'; END IF;
        RETURN NULL; END $$;
      CREATE TRIGGER refuse AFTER INSERT ON botsync.file FOR EACH STATEMENT EXECUTE FUNCTION refuse()`);
    await world.until(() => host.log.some((line) => line.includes('wait for the database')), 'it is refused');
    await world.cutOff(host);
    expect((await world.keys()).length).toBeLessThan(4501);
    await world.hosts.sql('DROP TRIGGER refuse ON botsync.file');
    host.isCut = false;
    await world.until(async () => (await world.keys()).length === 4501, 'all of it is on record');
  });

  test('is told nothing by a host whose lease ran out before it had read what there is', async () => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    await world.untilHeldBy(host);
    await host.record('a');
    await world.cutOff(host);
    await world.keep();
    // It takes the unit, and is cut off for good before it has read the files.
    host.asks = async (text) => {
      if (!text.includes('count(*) AS count') || host.isCut) return;
      host.isCut = true;
      await world.clock.advance(LEASE_MS);
    };
    const before = host.log.length;
    host.isCut = false;
    await world.until(
      () => host.log.slice(before).includes('docs is not synced by this host any more'),
      'it loses it',
    );
    host.asks = () => Promise.resolve();
    await world.goBack();
    host.isCut = false;
    await world.untilHeldBy(host);
    await host.record('b');
    expect(await world.keys()).toEqual(['a', 'b']);
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

  test('is told by the one that has it', async () => {
    const { world, former, holder } = await afterMove();
    await world.goBack();
    await world.until(async () => (await world.keys()).length === 2, 'it is on record again');
    await world.pass(LEASE_MS * 3);
    expect([holder.worked !== null, former.worked !== null]).toEqual([true, false]);
    expect(holder.log).not.toContain('docs is not synced by this host any more');
  });

  test('gives it to the one that had it last, which has all records', async () => {
    const { world, former, holder } = await afterMove();
    former.isCut = true;
    holder.isCut = true;
    await world.goBack();
    await world.until(() => holder.worked === null, 'its lease runs out');
    former.isCut = false;
    await world.pass(LEASE_MS / 2);
    holder.isCut = false;
    await world.until(() => holder.worked !== null || former.worked !== null, 'somebody takes it');
    expect(former.worked, 'it has not all records').toBeNull();
    await world.until(async () => (await world.keys()).length === 2, 'it is on record again');
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
