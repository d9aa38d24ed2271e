import type { ClusterView, HostRow } from '../../cluster/shared-ledger.ts';
import type { Config } from '../../config/config.ts';
import type { Hindrance } from '../../domain/hindrance.ts';
import type { OwnUnit } from './own-units.ts';

/** The state of a host's part in a cluster. */
export interface ClusterSituation {
  readonly host: string;
  /** Why this host cannot take part; `null`: it takes part. */
  readonly trouble: string | null;
  /** True if the last beat reached the database. It may also answer a host that cannot take part. */
  readonly isDatabaseUp: boolean;
  readonly view: ClusterView | null;
  /** Hosts heard of within a lease, and this host. */
  readonly alive: readonly HostRow[];
  /** Names of the units that this host holds. */
  readonly held: readonly string[];
  readonly sources: Config['sources'];
  /** Units of the configuration; empty until they are declared in the ledger. */
  readonly own: readonly OwnUnit[];
  /** Why units of the configuration may not be worked on, by name. */
  readonly blocked: ReadonlyMap<string, string>;
  readonly hindrances: readonly Hindrance[];
  /** Why this host last failed to work on units, by name. */
  readonly failed: ReadonlyMap<string, string>;
}
