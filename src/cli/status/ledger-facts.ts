import type { ClusterView } from '../../cluster/shared-ledger.ts';
import { withCluster, asked, demandLedger } from '../../run/cluster/open-cluster.ts';
import { serviceStateOf, withStateFile, type RecordsPlace } from '../../run/read-state-file.ts';
import { withRecords } from '../../run/read-records.ts';
import { overview } from '../../sync/plan/overview.ts';
import type { SourceStatus } from '../../domain/status.ts';
import { withRetries } from '../../sync/plan/standing.ts';
import type { StatusFacts, RecordedFacts } from './status-facts.ts';

/**
 * The ledger is read again after this time even without a change, since its content depends on the time, in
 * milliseconds.
 */
const KEPT_MS = 60_000;

interface Read {
  readonly facts: StatusFacts;
  readonly stamp: string;
  readonly atMs: number;
}

/** Reads the status of a host of a cluster from the ledger. */
export class LedgerFacts implements RecordedFacts {
  readonly #place: RecordsPlace;
  readonly #nowMs: () => number;
  #read: Read | null = null;

  /** @param nowMs - epoch milliseconds. */
  constructor(place: RecordsPlace, nowMs: () => number) {
    this.#place = place;
    this.#nowMs = nowMs;
  }

  /** Reads the ledger and the state file, without a daemon on this host. Throws `SyncError`. */
  async read(): Promise<StatusFacts> {
    const nowMs = this.#nowMs();
    const { loaded, platformName } = this.#place;
    // The ledger does not say which of its hosts is this one.
    const service = await withStateFile(loaded.config.stateFile, ({ holder, reader }) =>
      serviceStateOf(holder, reader.serviceAliveAtMs()),
    );
    const host = loaded.config.cluster?.host ?? '';
    const view = await this.#look();
    const stamp = JSON.stringify([
      service,
      view.hosts,
      view.units.map(({ id, epoch, seq }) => [id, epoch, seq]),
    ]);
    if (this.#read?.stamp === stamp && nowMs - this.#read.atMs < KEPT_MS) return this.#read.facts;
    const facts = await withRecords(this.#place, ({ reader, holder }): StatusFacts => {
      const seen = overview(reader, loaded.config, platformName, nowMs);
      const isAtWork = holder !== null || view.units.some((unit) => unit.holder !== null);
      const sources = seen.sources.map((source) => ({ ...source, ...syncedBy(view, source.name, host) }));
      return { known: withRetries({ ...seen, sources }, isAtWork ? {} : null, service), daemon: holder };
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

/** Returns the holder of the source's unit if it is another host. */
function syncedBy({ units }: ClusterView, source: string, host: string): Pick<SourceStatus, 'syncedBy'> {
  const unit = units.find(({ sources }) => sources.some(({ name }) => name === source));
  const holder = unit === undefined || unit.holder === null ? null : unit.holderHost;
  return holder === null || holder === host ? {} : { syncedBy: holder };
}
