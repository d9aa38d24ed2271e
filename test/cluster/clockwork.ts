import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { DatabaseError } from '../../src/cluster/shared-ledger.ts';
import type { Sql } from '../../src/cluster/postgres/sql.ts';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';
import { ClusterDatabase } from '../../src/cluster/postgres/database.ts';
import { Ledger } from '../../src/cluster/postgres/ledger.ts';
import { Membership } from '../../src/cluster/postgres/membership.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { beatMs } from '../../src/domain/lease.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { ClusterRun } from '../../src/run/cluster/cluster-run.ts';
import type { WorkedUnit } from '../../src/run/cluster/held-unit.ts';
import { openCluster, patienceMs } from '../../src/run/cluster/open-cluster.ts';
import { addSynced } from '../store/fixture.ts';
import { ManualClock } from '../manual-clock.ts';
import { createHosts, LEASE_MS, type Hosts } from './hosts.ts';
import type { PostgresServer } from './postgres.ts';

/** How long a test waits for what is to happen, milliseconds: reached only when it fails. */
const PATIENCE_MS = 30_000;

/** What sleeps for so long waits to ship again. */
const SHIP_AGAIN_MS = 200;

/** A host's part in a cluster by a clock that the test moves. Its daemon does what the test has it do. */
export interface ClockworkHost {
  readonly name: string;
  /** The unit that it works on; `null`: none. */
  readonly worked: WorkedUnit | null;
  /** Whether the database answers it. */
  isCut: boolean;
  /** Has its say before each question to the database. */
  asks: (text: string) => Promise<void>;
  /** What its log said. */
  readonly log: readonly string[];
  /** How long the platform asks this host to wait, milliseconds. */
  askedForMs: number;
  /** How long it asked others to wait, as this host heard last, milliseconds; 0: it did not. */
  readonly heardMs: number;
  /** Records a file as sent, and waits until the ledger has it. */
  readonly record: (name: string) => Promise<void>;
  /** Asks its part to end in order. */
  readonly stop: () => void;
  /** Asks it to end at once. */
  readonly breakOff: () => void;
  /** How its part ended; `null`: it has not. */
  readonly end: { readonly error: unknown } | null;
  /** Whether it is to end by an error. */
  isToFail: boolean;
}

/** For how long parts of a host sleep now, milliseconds. */
type Sleeping = Set<{ readonly ms: number }>;

/** Hosts of one cluster in this process, their clock, and their database. */
export class Clockwork {
  readonly clock = new ManualClock();
  readonly hosts: Hosts;
  readonly #server: PostgresServer;
  /** Of each host whose part has not ended. */
  readonly #sleeping = new Set<Sleeping>();
  #asked = 0;
  #answered = 0;

  private constructor(server: PostgresServer, hosts: Hosts) {
    this.#server = server;
    this.hosts = hosts;
  }

  static async create(server: PostgresServer): Promise<Clockwork> {
    return new Clockwork(server, await createHosts(server));
  }

  /** Has another host take part, until the test is over. */
  begin(name: string): ClockworkHost {
    const { directory, env } = this.hosts.host(name);
    const loaded = loadConfig(join(directory, 'botsync.json'));
    if (loaded.kind === 'invalid' || loaded.config.cluster === null) throw new Error('no configuration');
    const { config } = loaded;
    const cluster = openCluster(loaded, loaded.config.cluster, env);
    const database = this.#database(loaded.config.cluster);
    let worked: WorkedUnit | null = null;
    let end: ClockworkHost['end'] = null;
    const [stop, abort] = [new AbortController(), new AbortController()];
    const log: string[] = [];
    const host = {
      name,
      isCut: false,
      asks: (() => Promise.resolve()) as ClockworkHost['asks'],
      log,
      askedForMs: 0,
      heardMs: 0,
      record,
      isToFail: false,
      stop: () => {
        stop.abort();
      },
      breakOff: () => {
        stop.abort();
        abort.abort();
      },
      get worked() {
        return worked;
      },
      get end() {
        return end;
      },
    };
    const sql: Sql = async (text, values) => {
      await host.asks(text);
      if (host.isCut) throw new DatabaseError('unreachable', 'cut off');
      this.#asked += 1;
      try {
        return await database.sql(text, values);
      } finally {
        this.#answered += 1;
      }
    };
    async function record(file: string): Promise<void> {
      if (worked === null) throw new Error(`${name} holds nothing`);
      const { state } = worked;
      addSynced(state, state.targetId(TARGET), 'docs', file);
      await state.settled();
    }
    const note = (message: string): void => {
      log.push(message);
    };
    const sleeping: Sleeping = new Set();
    this.#sleeping.add(sleeping);
    const { schema } = cluster.config;
    const run = new ClusterRun({
      cluster: { ...cluster, ledger: new Ledger(sql, schema), membership: new Membership(sql, schema) },
      machine: name,
      config: () => config,
      platformName: () => TARGET.baseUrl,
      clock: this.#clockOfHost(sleeping),
      log: { debug: note, info: note, warn: note, error: note },
      work: async (_, unit) => {
        worked = unit;
        await new Promise<void>((resolve) => {
          unit.stop.addEventListener('abort', () => {
            resolve();
          });
          if (unit.stop.aborted) resolve();
        });
        worked = null;
      },
      settledUntilMs: () => null,
      isAtWork: () => true,
      carryOut: () => undefined,
      report: () => null,
      pauses: {
        askedForMs: () => host.askedForMs,
        pause: (ms) => {
          host.heardMs = ms;
        },
      },
      stop: stop.signal,
      abort: abort.signal,
    });
    const running = run
      .run()
      .then(
        () => ({ error: null }),
        (error: unknown) => ({ error }),
      )
      .then((how) => {
        end = how;
        this.#sleeping.delete(sleeping);
      });
    onTestFinished(async () => {
      host.isCut = true;
      host.breakOff();
      await running;
      await database.close();
      await cluster.close();
      if (!host.isToFail) expect(end).toEqual({ error: null });
    });
    return host;
  }

  #database(config: Parameters<typeof patienceMs>[0]): ClusterDatabase {
    const connection = connectionOf(this.#server.url(this.hosts.database), 'test');
    if (connection.kind !== 'ok') throw new Error(connection.message);
    return new ClusterDatabase({
      connection: connection.config,
      patienceMs: patienceMs(config),
      connections: 6,
    });
  }

  /** Lets time go by until something is so: as much of it as it takes, but none while the database is being asked. */
  async until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    await this.#quiet();
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error(`never: ${what}`);
      await this.clock.advance(this.clock.nextWakeMs ?? 1);
      await this.#quiet();
    }
  }

  /** Lets so much time go by, and none of it while the database is being asked. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonic() + ms;
    await this.until(() => {
      const { nextWakeMs } = this.clock;
      return nextWakeMs === null || this.clock.monotonic() + nextWakeMs > untilMs;
    }, 'nobody wakes any more');
    await this.clock.advance(Math.max(0, untilMs - this.clock.monotonic()));
    await this.#quiet();
  }

  /** Waits until a host works on the unit. */
  async untilHeldBy(host: ClockworkHost): Promise<void> {
    await this.until(() => host.worked !== null, `${host.name} holds it`);
  }

  /** Cuts hosts off from the database, until the one that works on the unit has lost it. */
  async cutOff(...hosts: readonly ClockworkHost[]): Promise<void> {
    for (const host of hosts) host.isCut = true;
    await this.until(() => hosts.every(({ worked }) => worked === null), 'the lease runs out');
  }

  /** Keeps what the ledger has now. */
  async keep(): Promise<void> {
    const tables = ['unit', 'file', 'entry'].map(
      (name) => `CREATE TABLE old.${name} AS TABLE botsync.${name}`,
    );
    await this.hosts.sql(['DROP SCHEMA IF EXISTS old CASCADE', 'CREATE SCHEMA old', ...tables].join(';'));
  }

  /** The database is as it was when that was kept. */
  async goBack(): Promise<void> {
    await this.hosts.sql(`
      DELETE FROM botsync.file; DELETE FROM botsync.entry;
      INSERT INTO botsync.file TABLE old.file; INSERT INTO botsync.entry TABLE old.entry;
      UPDATE botsync.unit SET epoch = old.epoch, beat = old.beat, seq = old.seq, holder = old.holder,
        holder_host = old.holder_host, is_in_doubt = old.is_in_doubt FROM old.unit AS old WHERE old.id = unit.id`);
  }

  /** The keys that the ledger has on record. */
  async keys(): Promise<unknown[]> {
    const rows = await this.hosts.sql(`SELECT body ->> 'key' AS key FROM botsync.file ORDER BY 1`);
    return rows.map(({ key }) => key);
  }

  /** Kills the database, and starts it again. */
  async restart(): Promise<void> {
    await this.#server.killHard();
    await this.#server.start();
  }

  #clockOfHost(sleeping: Sleeping): Clock {
    const { now, monotonic } = this.clock;
    return {
      now,
      monotonic,
      sleep: async (ms, signal) => {
        const one = { ms };
        sleeping.add(one);
        await this.clock.sleep(ms, signal);
        sleeping.delete(one);
      },
    };
  }

  /** Waits until every host waits for its next beat, and nobody for the database: the rest is done after a few turns. */
  async #quiet(): Promise<void> {
    const areWaiting = (): boolean =>
      [...this.#sleeping].every((host) =>
        [...host].some(({ ms }) => ms <= beatMs(LEASE_MS) && ms !== SHIP_AGAIN_MS),
      );
    for (let quiet = 0; quiet < 3; quiet += 1) {
      const asked = this.#asked;
      await sleep(3);
      if (this.#answered < this.#asked || asked < this.#asked || !areWaiting()) quiet = -1;
    }
  }
}

/** Where files of these tests are kept. */
const TARGET = { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' };
