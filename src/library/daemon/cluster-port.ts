import type { ClusterSituation } from '../cluster/cluster-situation.ts';
import type { HostReport } from '../cluster/host-reports.ts';

/** What is wanted of the host that syncs a source. */
export type Wish =
  /** `halt`: its digest. */
  | { readonly kind: 'approve'; readonly source: string; readonly halt: string }
  | { readonly kind: 'rescan'; readonly source: string; readonly path: string | null }
  | PruneWish;

/** Kept files of a source are to be removed. `digest`: see `digestOfKept`; `glob`: only those whose path matches. */
export interface PruneWish {
  readonly kind: 'prune';
  readonly source: string;
  readonly glob: string | null;
  readonly digest: string;
}

/** What became of a wish: its host has to see it, nobody syncs the source, or the database does not take it. */
export type Wished =
  | { readonly kind: 'passed-on'; readonly host: string }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'failed'; readonly reason: string };

/** A host's part in a cluster, as far as it is asked how things stand. */
export interface ClusterPort {
  readonly situation: ClusterSituation;
  /** What hosts said of themselves when they were asked last, by the host's name. */
  readonly reports: ReadonlyMap<string, HostReport>;
  /** Asks what the other hosts say of themselves, unless that was done just now. Resolves in any case, and soon. */
  readonly look: () => Promise<void>;
  /** Asks something of the host that syncs a source. */
  readonly wish: (wish: Wish) => Promise<Wished>;
}
