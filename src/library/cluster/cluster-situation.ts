import type { ClusterView, HostRow } from '../../cluster/membership.ts';
import type { Config } from '../../config/config.ts';
import type { Hindrance } from '../../domain/hindrance.ts';
import type { UnitObserver } from './held-units.ts';
import type { OwnUnit } from './own-units.ts';

/** Follows a host's part in a cluster. */
export interface ClusterObserver extends UnitObserver {
  /** Why this host cannot take part has changed; `null`: it takes part. Told after the first beat in any case. */
  readonly stands: (trouble: string | null) => void;
}

/** Where nobody follows it. */
export const NOBODY_FOLLOWS: ClusterObserver = {
  stands: () => undefined,
  shipped: () => undefined,
  taken: () => undefined,
  ended: () => undefined,
};

/** How a host's part in a cluster stands. */
export interface ClusterSituation {
  readonly host: string;
  /** Why this host cannot take part; `null`: it can. */
  readonly trouble: string | null;
  /** Whether the last beat reached the database: it may answer a host that cannot take part. */
  readonly isDatabaseUp: boolean;
  readonly view: ClusterView | null;
  /** Hosts that were heard of lately. */
  readonly alive: readonly HostRow[];
  /** Names of the units that this host holds. */
  readonly held: readonly string[];
  /** The sources of the configuration. */
  readonly sources: Config['sources'];
  /** Its units; none until the ledger has them. */
  readonly own: readonly OwnUnit[];
  /** Units of the configuration that nobody may work on, and why. */
  readonly blocked: ReadonlyMap<string, string>;
  /** What keeps this host from sources of its configuration. */
  readonly hindrances: readonly Hindrance[];
  /** Units that this host could not work on when it tried last, and why. */
  readonly failed: ReadonlyMap<string, string>;
}
