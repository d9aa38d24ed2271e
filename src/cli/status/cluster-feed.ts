import type { ClusterView } from '../../cluster/membership.ts';
import type { SourceConfig } from '../../config/config.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { asked, demandLedger } from '../../library/cluster/open-cluster.ts';
import { forThisHost } from '../../library/for-this-host.ts';
import { withRecords, type RecordsPlace } from '../../library/read-records.ts';
import { SyncError } from '../../library/sync-error.ts';
import { EMPTY_SOURCE, overview, type SourceStatus } from '../../sync/plan/overview.ts';
import { withRetries } from '../../sync/plan/standing.ts';
import type { KeptElsewhere } from '../../words/status.ts';
import type { StatusFacts } from './status-facts.ts';

/** What the ledger said is read again after this time though nothing was written to it, as some of it depends on the time. */
const KEPT_MS = 60_000;

interface Read {
  readonly facts: StatusFacts;
  readonly stamp: string;
  readonly atMs: number;
}

/** What a host of a cluster finds out from the ledger for its status. */
export class ClusterFeed {
  readonly #place: RecordsPlace;
  #read: Read | null = null;

  constructor(place: RecordsPlace) {
    this.#place = place;
  }

  /** Adds to what the daemon of this host tells what others keep. Without the database that is not known, which is no failure. */
  async beside(facts: StatusFacts): Promise<StatusFacts> {
    const known = new Set(facts.known.sources.map(({ name }) => name));
    const missing = this.#place.loaded.config.sources.filter(({ name }) => !known.has(name));
    if (missing.length === 0) return { ...facts, elsewhere: [] };
    const view = await this.#look().catch((error: unknown) => {
      if (error instanceof SyncError) return null;
      throw error;
    });
    return { ...facts, elsewhere: missing.map((source) => elsewhereOf(source, view)) };
  }

  /** What the ledger and the state file say, where no daemon of this host does. Throws `SyncError`. */
  async read(nowMs: number): Promise<StatusFacts> {
    const { loaded, platformName } = this.#place;
    const own = forThisHost(loaded.config);
    const view = await this.#look();
    const stamp = JSON.stringify([view.hosts, view.units.map(({ id, epoch, seq }) => [id, epoch, seq])]);
    if (this.#read?.stamp === stamp && nowMs - this.#read.atMs < KEPT_MS) return this.#read.facts;
    const facts = await withRecords(this.#place, ({ reader, holder }): StatusFacts => {
      const seen = overview(reader, own, platformName, nowMs);
      const isAtWork = holder !== null || view.units.some((unit) => unit.holder !== null);
      const others = loaded.config.sources.filter((source) => !own.sources.includes(source));
      return {
        known: withRetries(seen, isAtWork ? {} : null),
        daemon: holder,
        elsewhere: others.map((source) => elsewhereOf(source, view)),
      };
    });
    this.#read = { facts, stamp, atMs: nowMs };
    return facts;
  }

  #look(): Promise<ClusterView> {
    const { loaded, env } = this.#place;
    return withCluster(loaded, env, async (cluster) => {
      await demandLedger(cluster);
      return await asked(() => cluster.membership.look(), cluster.config);
    });
  }
}

function elsewhereOf({ name, host }: SourceConfig, view: ClusterView | null): KeptElsewhere {
  const unit = view?.units.find(
    (one) => one.pinned === null && one.sources.some((source) => source.name === name),
  );
  const keeper = host ?? (unit === undefined || unit.holder === null ? null : unit.holderHost);
  const report = view?.hosts.find((one) => one.name === keeper)?.report;
  return { name, host: keeper, status: statusIn(report, name) };
}

/** A host of an older version may tell less of its sources, and a newer one more. */
function statusIn(report: unknown, name: string): SourceStatus | null {
  const { sources = [] } = (report ?? {}) as { sources?: readonly Partial<SourceStatus>[] };
  const told = sources.find((source) => source.name === name);
  return told === undefined ? null : { ...EMPTY_SOURCE, ...told, name };
}
