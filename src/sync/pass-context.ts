import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import type { Summary } from '../domain/report.ts';
import type { StateStore } from '../state/state-store.ts';
import type { Outage } from '../upload/outage.ts';
import type { Blockade } from './blockade.ts';
import type { Claims } from './claims.ts';
import type { IndexWarnings } from './index-warnings.ts';
import type { Reporter } from './reporter.ts';
import type { Unsent } from './unsent.ts';

/** What one full pass works with. */
export interface PassContext {
  readonly config: Config;
  readonly state: StateStore;
  readonly platform: FilePlatform;
  readonly clock: Clock;
  /** A number in [0, 1): jitter. */
  readonly random: () => number;
  readonly report: Reporter;
  readonly summary: Summary;
  /** The pass's number. */
  readonly pass: number;
  readonly claims: Claims;
  readonly blockade: Blockade;
  readonly outage: Outage;
  readonly unsent: Unsent;
  readonly indexWarnings: IndexWarnings;
  /** Bounds the transfers that run at a time. */
  readonly transfer: <T>(exchange: () => Promise<T>) => Promise<T>;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Breaks off what is under way. */
  readonly abort: AbortSignal;
}
