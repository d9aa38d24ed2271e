import type { ClusterSituation } from '../cluster/cluster-situation.ts';
import type { HostReport } from '../cluster/host-reports.ts';

/** A request to the host that syncs a source. */
export type HostCommand =
  /** `halt`: its digest, see `haltDigest`. */
  | { readonly kind: 'approve'; readonly source: string; readonly halt: string }
  | { readonly kind: 'rescan'; readonly source: string; readonly path: string | null }
  | PruneCommand;

/** Asks to remove kept files of a source. `digest`: see `digestOfKept`; `glob`: only files whose path matches. */
export interface PruneCommand {
  readonly kind: 'prune';
  readonly source: string;
  readonly glob: string | null;
  readonly digest: string;
}

/** The result of a command: its host will see it, no host syncs the source, or the database failed. */
export type CommandOutcome =
  | { readonly kind: 'passed-on'; readonly host: string }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'failed'; readonly reason: string };

/** A host's part in a cluster, for answering requests. */
export interface ClusterPort {
  readonly situation: ClusterSituation;
  /** The last known reports, by host name. */
  readonly reports: ReadonlyMap<string, HostReport>;
  /** Fetches the reports of the hosts unless they are fresh. Always resolves, and soon. */
  readonly look: () => Promise<void>;
  /** Passes a command to the host that syncs its source. */
  readonly command: (command: HostCommand) => Promise<CommandOutcome>;
}
