import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface ClusterMeasures {
  readonly unitsHeld: number;
  /** The last heartbeat reached the database. */
  readonly isDatabaseUp: boolean;
}

/** In seconds: from a database on the same machine to one that is about to be given up. */
const SHIP_BUCKETS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

/** Counts the work of a host in a cluster, for Prometheus. */
export class ClusterMetrics {
  readonly #measure: () => ClusterMeasures;
  readonly #unitsHeld: Gauge;
  readonly #databaseUp: Gauge;
  readonly #takeovers: Counter;
  readonly #leasesLost: Counter;
  readonly #hints: Readonly<Record<'sent' | 'received', Counter>>;
  readonly #ships: Histogram;

  /** @param measure - called once for each rendering. */
  constructor(library: typeof import('prom-client'), registry: Registry, measure: () => ClusterMeasures) {
    const registers = [registry];
    this.#measure = measure;
    this.#unitsHeld = new library.Gauge({
      name: 'botsync_cluster_units_held',
      help: 'Units that this host holds.',
      registers,
    });
    this.#databaseUp = new library.Gauge({
      name: 'botsync_cluster_database_up',
      help: '1 if the last beat reached the database, otherwise 0.',
      registers,
    });
    this.#takeovers = new library.Counter({
      name: 'botsync_cluster_takeovers_total',
      help: 'Units that this host took from another one that did not let go of them.',
      registers,
    });
    this.#leasesLost = new library.Counter({
      name: 'botsync_cluster_leases_lost_total',
      help: 'Units that this host lost without letting go of them.',
      registers,
    });
    this.#hints = {
      sent: new library.Counter({
        name: 'botsync_cluster_hints_sent_total',
        help: 'Paths of local changes that this host named to the host that syncs them.',
        registers,
      }),
      received: new library.Counter({
        name: 'botsync_cluster_hints_received_total',
        help: 'Paths that other hosts named to this one.',
        registers,
      }),
    };
    this.#ships = new library.Histogram({
      name: 'botsync_cluster_ship_duration_seconds',
      help: 'Time that the database took for a group of records, including repetitions.',
      buckets: SHIP_BUCKETS,
      registers,
    });
  }

  /** Counts a unit taken from a host that did not release it. */
  tookOver(): void {
    this.#takeovers.inc();
  }

  /** Counts a unit that this host lost without releasing it. */
  lost(): void {
    this.#leasesLost.inc();
  }

  hinted(direction: 'sent' | 'received', count: number): void {
    this.#hints[direction].inc(count);
  }

  /** Counts records that reached the database, this many seconds after they were first sent. */
  shipped(seconds: number): void {
    this.#ships.observe(seconds);
  }

  takeMeasures(): void {
    const { unitsHeld, isDatabaseUp } = this.#measure();
    this.#unitsHeld.set(unitsHeld);
    this.#databaseUp.set(isDatabaseUp ? 1 : 0);
  }
}
