import type { ClusterView } from '../../cluster/membership.ts';
import type { SourceConfig } from '../../config/config.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { asked, demandLedger } from '../../library/cluster/open-cluster.ts';
import { forThisHost } from '../../library/for-this-host.ts';
import { withRecords, type RecordsPlace } from '../../library/read-records.ts';
import { EMPTY_SOURCE, overview, type SourceStatus } from '../../sync/plan/overview.ts';
import { withRetries } from '../../sync/plan/standing.ts';
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

  /** What the ledger and the state file say, where no daemon of this host does. Throws `SyncError`. */
  async read(nowMs: number): Promise<StatusFacts> {
    const { loaded, platformName } = this.#place;
    const own = forThisHost(loaded.config);
    const host = own.cluster?.host ?? '';
    const view = await this.#look();
    const stamp = JSON.stringify([view.hosts, view.units.map(({ id, epoch, seq }) => [id, epoch, seq])]);
    if (this.#read?.stamp === stamp && nowMs - this.#read.atMs < KEPT_MS) return this.#read.facts;
    const facts = await withRecords(this.#place, ({ reader, holder }): StatusFacts => {
      const seen = overview(reader, own, platformName, nowMs);
      const isAtWork = holder !== null || view.units.some((unit) => unit.holder !== null);
      const here = seen.sources.map((source) => ({ ...source, ...syncedBy(view, source.name, host) }));
      const others = loaded.config.sources.filter((source) => !own.sources.includes(source));
      const sources = [...here, ...others.flatMap((source) => reportedOf(view, source))];
      return { known: withRetries({ ...seen, sources }, isAtWork ? {} : null), daemon: holder };
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

/** The host that holds the unit of a source, where that is another one. */
function syncedBy({ units }: ClusterView, source: string, host: string): Pick<SourceStatus, 'syncedBy'> {
  const unit = units.find(
    ({ pinned, sources }) => pinned === null && sources.some(({ name }) => name === source),
  );
  const holder = unit === undefined || unit.holder === null ? null : unit.holderHost;
  return holder === null || holder === host ? {} : { syncedBy: holder };
}

/** What the host of a pinned source has told of it; nothing where it did not. */
function reportedOf({ hosts }: ClusterView, { name, host }: SourceConfig): SourceStatus[] {
  const keeper = hosts.find((one) => one.name === host);
  // A host of another version may leave out some of it.
  const { sources = [] } = (keeper?.report ?? {}) as { sources?: readonly Partial<SourceStatus>[] };
  const told = sources.find((source) => source.name === name);
  return keeper === undefined || told === undefined
    ? []
    : [{ ...EMPTY_SOURCE, ...told, name, syncedBy: keeper.name }];
}
