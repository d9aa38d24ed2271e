import type { Halt } from '../../domain/guard.ts';
import type { Summary } from '../../domain/report.ts';
import type { FoundSource } from '../sources/source.ts';
import type { Blockade } from './blockade.ts';
import type { Reporter } from './reporter.ts';

/** What a pass is given, beside what it shares with all others. */
export interface PassInput {
  /** Counted up as the pass goes on; the caller has the counts also when it fails. */
  readonly summary: Summary;
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** Whether to let through, this once, what a guard would halt a source for. */
  readonly isAllowed: (source: string, halt: Halt) => boolean;
  /** Whether files that failed, and have not changed since, are retried: by default they are. */
  readonly retriesFailed?: boolean;
  /** What keeps files from being sent is taken as known already, and not tried. */
  readonly blockade?: Blockade;
  /** Instead of the context's. */
  readonly report?: Reporter;
  /** Awaited when everything was sent and removed, before the pass is summed up. */
  readonly allSent?: () => Promise<void>;
  /** Told the sources as the pass found them, before it walks them. */
  readonly onFound?: (found: readonly FoundSource[]) => void;
}
