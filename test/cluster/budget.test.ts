import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Budget, type BudgetSettings } from '../../src/cluster/budget.ts';
import { budgetTables } from '../../src/cluster/budget-tables.ts';
import { connectionOf } from '../../src/cluster/connection.ts';
import { ClusterDatabase, type Sql } from '../../src/cluster/database.ts';
import { quoted } from '../../src/cluster/schema.ts';
import { PAUSE_CHANNEL, ShareTable } from '../../src/cluster/share-table.ts';
import { grantOf, rateAt, type HeldShare } from '../../src/domain/share.ts';
import { ShareHolder, type ShareRequest } from '../../src/domain/share-holder.ts';
import { SEED } from '../seed.ts';
import { ManualClock } from '../watch/manual-clock.ts';
import { serverOfFile } from './postgres.ts';

const SCHEMA = 'botsync "x"';
const LIMIT = 90;
const GRANT_MS = 10_000;
const EPSILON = 1e-9;

const server = await serverOfFile();
let name: string;
let database: ClusterDatabase;
let table: ShareTable;

beforeEach(async () => {
  name = await server.createDatabase();
  const connection = connectionOf(server.url(name), 'test');
  if (connection.kind !== 'ok') throw new Error(connection.message);
  database = new ClusterDatabase({ connection: connection.config, patienceMs: 10_000, connections: 8 });
  const mine = database;
  onTestFinished(() => mine.close());
  await database.sql(`CREATE SCHEMA ${quoted(SCHEMA)}`);
  // They are there already when a second host starts.
  for (const statement of [...budgetTables(SCHEMA), ...budgetTables(SCHEMA)]) await database.sql(statement);
  table = new ShareTable(database.sql, SCHEMA);
});

const owner = (host: string, instance = `${host}1`) => ({ budget: 'ws', host, instance });

function request(more: Partial<ShareRequest> = {}): ShareRequest {
  return {
    ...{ beat: 1, sentAtMs: 0, limit: LIMIT, wanted: LIMIT, claim: { share: LIMIT, floor: 9 } },
    ...{ silentMarks: [], expelledMarks: [], successorOf: null, ...more },
  };
}

/** What the table answers to a request. */
async function answer(host: string, more: Partial<ShareRequest> = {}, instance?: string) {
  return (await table.carryOut(owner(host, instance), request(more))).answer;
}

describe('the table of shares', () => {
  test('begins a budget with the first request', async () => {
    expect(await table.list('ws')).toEqual({ shares: [], pausedMs: 0 });
    expect(await answer('a')).toEqual({ kind: 'granted', grant: { share: 90, floor: 9 }, others: [] });
    expect(await table.list('other')).toEqual({ shares: [], pausedMs: 0 });
    const { shares } = await table.list('ws');
    expect(shares).toMatchObject([{ host: 'a', limit: 90, wanted: 90, share: 90, floor: 9 }]);
  });

  test('grants what the pure rule grants, whatever is in it', async () => {
    const most = fc.double({ min: 60, max: 100, noNaN: true });
    const rate = fc.double({ min: 0, max: 20, noNaN: true });
    const host = fc.record({
      ...{ limit: most, wanted: most, share: rate, floor: rate },
      kind: fc.constantFrom('alive' as const, 'silent' as const, 'expelled' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(host, { maxLength: 6 }),
        most,
        most,
        rate,
        async (hosts, limit, share, floor) => {
          await database.sql(`DELETE FROM ${quoted(SCHEMA)}.budget_share`);
          for (const [n, one] of hosts.entries())
            await database.sql(
              `INSERT INTO ${quoted(SCHEMA)}.budget_share VALUES ('ws', $1, $1, 7, $2, $3, $4, $5, now())`,
              [`h${n}`, one.limit, one.wanted, one.share, one.floor],
            );
          const marks = (kind: string) => hosts.flatMap((one, n) => (one.kind === kind ? [`h${n}:7`] : []));
          const given = await answer('a', {
            ...{ limit, claim: { share, floor } },
            ...{ silentMarks: marks('silent'), expelledMarks: marks('expelled') },
          });
          const rows = hosts.map(({ kind, ...row }, n) => ({
            kind,
            row: { ...row, host: `h${n}`, mark: `h${n}:7` },
          }));
          const kept = rows.filter(({ kind }) => kind !== 'expelled');
          const known = kept.map(({ kind, row }) => ({ ...row, isSilent: kind === 'silent' }));
          const pure = grantOf({ share, floor }, limit, known);
          if (given.kind !== 'granted') throw new Error(given.kind);
          expect(given.grant.share).toBeCloseTo(pure.share, 9);
          expect(given.grant.floor).toBeCloseTo(pure.floor, 9);
          expect(new Set(given.others)).toEqual(new Set(kept.map(({ row }) => row)));
          expect((await table.list('ws')).shares).toHaveLength(known.length + 1);
        },
      ),
      { seed: SEED, numRuns: 40 },
    );
  });

  test('lets a later request of a process through, and one of another process only in the place of a named one', async () => {
    await answer('a', { beat: 5, claim: { share: 10, floor: 1 } });
    expect(await answer('a', { beat: 5 })).toEqual({ kind: 'replaced', mark: 'a1:5', others: [] });
    expect(await answer('a', { beat: 4 })).toMatchObject({ kind: 'replaced' });
    expect(await answer('a', { beat: 6 }, 'a2')).toEqual({ kind: 'replaced', mark: 'a1:5', others: [] });
    expect(await answer('a', { beat: 1, successorOf: 'a1:4' }, 'a2')).toMatchObject({ kind: 'replaced' });
    expect((await table.list('ws')).shares).toMatchObject([{ share: 10 }]);
    expect(await answer('a', { beat: 1, successorOf: 'a1:5' }, 'a2')).toMatchObject({ grant: { share: 90 } });
    await table.leave(owner('a'));
    expect((await table.list('ws')).shares).toHaveLength(1);
    await table.leave(owner('a', 'a2'));
    expect((await table.list('ws')).shares).toEqual([]);
  });

  test('lets those who ask at the same time wait for each other, and see what the one before was granted', async () => {
    const s = quoted(SCHEMA);
    const writer = new pg.Client({ connectionString: server.url(name) });
    onTestFinished(() => writer.end());
    await writer.connect();
    await answer('c', { claim: { share: 0, floor: 0 } });
    await writer.query(`BEGIN; UPDATE ${s}.budget SET version = version + 1;
      INSERT INTO ${s}.budget_share VALUES ('ws', 'b', 'b1', 1, 90, 90, 80, 9, now())`);
    const waiting = table.carryOut(owner('a'), request());
    const waits = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${name}'`;
    while ((await server.query(waits))[0]?.['count'] !== 1);
    await writer.query('COMMIT');
    expect(await waiting).toMatchObject({ answer: { grant: { share: 10 } } });
  });

  test('never reserves more than the limit together, whoever asks at the same time', async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const holder = new ShareHolder({ limit: LIMIT, grantMs: GRANT_MS, expelMs: Infinity });
        for (let beat = 0; beat < 30; beat += 1) {
          const asked = holder.ask((n * 17 + beat * 7) % LIMIT, 0);
          holder.answered(asked, (await table.carryOut(owner(`h${n}`), asked)).answer, 0);
          const { shares } = await table.list('ws');
          expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeLessThanOrEqual(LIMIT + EPSILON);
        }
      }),
    );
    expect((await table.list('ws')).shares).toHaveLength(8);
  });
});

/** A host with a budget, whose statements can be waited for. */
interface BudgetHost {
  readonly budget: Budget;
  /** What happened, in order: a statement was sent, or the share was told. */
  readonly events: ('sent' | HeldShare)[];
  readonly pauses: number[];
  wanted: number;
  /** What may be sent now. */
  readonly rate: () => number;
}

/** Hosts whose time is the test's. */
class BudgetWorld {
  readonly clock = new ManualClock();
  readonly #settings: Partial<BudgetSettings>;
  #underWay = 0;

  constructor(settings: Partial<BudgetSettings> = {}) {
    this.#settings = settings;
  }

  /** A host begins that could use so many requests a second. */
  async start(host: string, wanted: number, instance = `${host}1`): Promise<BudgetHost> {
    const events: BudgetHost['events'] = [];
    const pauses: number[] = [];
    const sql: Sql = async (text, values) => {
      this.#underWay += 1;
      events.push('sent');
      try {
        return await database.sql(text, values);
      } finally {
        this.#underWay -= 1;
      }
    };
    const times = { requestsPerSecond: LIMIT, grantMs: GRANT_MS, beatMs: GRANT_MS / 4 };
    const settings = { ...owner(host, instance), ...times, schema: SCHEMA, ...this.#settings };
    const budget = new Budget(settings, sql, this.clock);
    const last = (): HeldShare | undefined => events.findLast((event) => event !== 'sent');
    const one: BudgetHost = {
      ...{ budget, events, pauses, wanted },
      rate: () => {
        const share = last();
        return share === undefined ? NaN : rateAt(share, this.clock.monotonic());
      },
    };
    budget.wanted = () => one.wanted;
    budget.onShare((share) => events.push(share));
    budget.onPause((ms) => pauses.push(ms));
    onTestFinished(() => budget.close());
    budget.start();
    await this.pass(0);
    return one;
  }

  /** Lets time go by; what the database is asked in the meantime is answered before it goes on. */
  async pass(ms: number): Promise<void> {
    const step = GRANT_MS / 40;
    for (let leftMs = ms; ; leftMs -= step) {
      await this.clock.advance(Math.min(step, Math.max(0, leftMs)));
      while (this.#underWay > 0) await turn();
      await turn();
      if (leftMs <= 0) return;
    }
  }
}

describe('a budget', () => {
  test('is shared: nobody sends before it was told, and who wants less or leaves makes room', async () => {
    const world = new BudgetWorld();
    const one = await world.start('a', LIMIT);
    expect(one.events[0]).toEqual({ perSecond: 0, untilMs: -Infinity, floorPerSecond: 0 });
    expect(one.rate()).toBe(90);
    const other = await world.start('b', LIMIT);
    await world.pass(3 * GRANT_MS);
    expect([one.rate(), other.rate()]).toEqual([45, 45]);
    expect(one.budget.state).toEqual({
      ...{ share: 45, floor: 9, limit: LIMIT, hosts: 2, silentHosts: 0, isReplaced: false, trouble: null },
    });
    other.wanted = 0;
    await world.pass(GRANT_MS);
    expect([one.rate(), other.rate()]).toEqual([81, 9]);
    await other.budget.close();
    expect(other.rate()).toBe(0);
    await world.pass(GRANT_MS);
    expect(one.rate()).toBe(90);
  });

  test('has what a host gives up be told before the database hears of it', async () => {
    const world = new BudgetWorld();
    const one = await world.start('a', LIMIT);
    one.events.length = 0;
    await world.start('b', LIMIT);
    await world.pass(GRANT_MS / 2);
    const rates = one.events.map((event) => (event === 'sent' ? event : event.perSecond));
    const first = rates.indexOf(45);
    expect(rates.slice(first - 1, first + 2)).toEqual([90, 45, 'sent']);
  });

  test('gives more within a quarter of a beat to whom nobody else keeps it from', async () => {
    const world = new BudgetWorld();
    const one = await world.start('a', 0);
    await world.pass(GRANT_MS);
    expect(one.rate()).toBe(18);
    one.wanted = 50;
    await world.pass((GRANT_MS / 40) * 3);
    expect(one.rate()).toBe(50);
  });

  test('goes on at its floor without the database, and as before when it is back', async () => {
    const world = new BudgetWorld();
    const one = await world.start('a', LIMIT);
    await world.pass(GRANT_MS);
    await server.stop();
    await world.pass(GRANT_MS / 2);
    expect(one.rate()).toBe(90);
    expect(one.budget.state.trouble).toMatch(/ECONNREFUSED|terminat/u);
    await world.pass(GRANT_MS);
    expect(one.rate()).toBe(18);
    await server.start();
    await world.pass(GRANT_MS);
    expect([one.rate(), one.budget.state.trouble]).toEqual([90, null]);
  });

  test('is nothing for a process whose name another one has taken', async () => {
    const world = new BudgetWorld();
    const one = await world.start('a', LIMIT);
    const other = await world.start('a', LIMIT, 'a2');
    expect(other.rate()).toBe(90);
    await world.pass(GRANT_MS);
    expect([one.rate(), one.budget.state.isReplaced]).toEqual([0, true]);
    expect([other.rate(), other.budget.state.isReplaced]).toEqual([90, false]);
  });

  test('has all hosts pause when the platform asks one: at once where they listen, else with their next beats', async () => {
    const world = new BudgetWorld();
    const [one, listening, deaf] = [
      await world.start('a', 5),
      await world.start('b', 5),
      await world.start('c', 5),
    ];
    const heard = new Promise<void>((resolve) => {
      const told = (payload: string): void => {
        for (const host of [one, listening]) host.budget.heardPause(payload);
        resolve();
      };
      void database.listen(PAUSE_CHANNEL, told, () => Promise.resolve(), new AbortController().signal);
    });
    const listens = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle' AND datname = '${name}'`;
    while ((await server.query(listens))[0]?.['count'] !== 1);
    const sentBefore = one.events.length;
    for (const ms of [60_000, 59_000, 60_000]) one.budget.notePause(ms);
    expect(one.events.slice(sentBefore)).toEqual(['sent']);
    await heard;
    expect([one.pauses, listening.pauses, deaf.pauses]).toEqual([[], [60_000], []]);
    await world.pass(GRANT_MS / 4);
    const [pausedMs = NaN] = deaf.pauses;
    expect(pausedMs).toBeGreaterThan(0);
    expect(pausedMs).toBeLessThanOrEqual(60_000);
    expect((await table.list('ws')).pausedMs).toBeGreaterThan(0);
    for (const payload of [
      '',
      '{',
      'null',
      '{"budget":"ws","host":"x","ms":"1"}',
      '{"budget":"y","host":"x","ms":1}',
    ])
      listening.budget.heardPause(payload);
    expect(listening.pauses[0]).toBe(60_000);
    expect(listening.pauses).not.toContain(1);
  });

  test('keeps the longer of two pauses, and none that a jump of the clock made longer', async () => {
    await answer('a');
    await table.pause(owner('a'), 60_000);
    await table.pause(owner('a'), 1000);
    expect((await table.list('ws')).pausedMs).toBeGreaterThan(1000);
    await database.sql(`UPDATE ${quoted(SCHEMA)}.budget SET paused_until = now() + interval '1 day'`);
    expect((await table.list('ws')).pausedMs).toBe(60_000);
    await table.pause(owner('a'), 1000);
    expect((await table.list('ws')).pausedMs).toBeLessThanOrEqual(1000);
  });
});
