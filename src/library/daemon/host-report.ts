import type { Snapshot } from '../../notify/trouble.ts';
import type { Clock } from '../../domain/clock.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { HostReport } from '../cluster/host-reports.ts';
import { takeSnapshot } from '../take-snapshot.ts';
import { healthOf } from './daemon-notifier.ts';
import type { RunningDaemon } from './daemons.ts';

/** What was sent is counted again only after so many times as long as that took: every row is read for it. */
const COUNT_REST = 100;

/** The last summary is the same one still if it seems to have moved by so little, milliseconds. */
const SAME_SUMMARY_MS = 60_000;

/** What goes into the report of a host. */
export interface ReportedRun {
  readonly running: readonly RunningDaemon[];
  /** What the platform is called in records. */
  readonly platformName: string;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: number;
  /** Sources of this host that nobody may sync, and why. */
  readonly halted: ReadonlyMap<string, string>;
  /** Epoch milliseconds of the last summary; `null`: there was none, or nobody wants one. */
  readonly summedUpMs: number | null;
}

/** Tells the host that tells people how this one stands. */
export class HostReporter {
  readonly #monotonic: () => number;
  readonly #counted = new WeakMap<StateStore, Count>();

  constructor({ monotonic }: Pick<Clock, 'monotonic'>) {
    this.#monotonic = monotonic;
  }

  /** Throws `StateFileError`. */
  report({ summedUpMs, ...run }: ReportedRun): Pick<HostReport, 'snapshot' | 'sent'> {
    const counts = summedUpMs === null ? null : run.running.map(({ state }) => this.#sent(state, summedUpMs));
    return {
      snapshot: snapshotOf(run),
      sent: counts?.reduce((a, b) => ({ files: a.files + b.files, bytes: a.bytes + b.bytes }), NONE) ?? null,
    };
  }

  #sent(state: StateStore, sinceMs: number): Sent {
    const nowMs = this.#monotonic();
    const known = this.#counted.get(state);
    const isOfNow =
      known !== undefined &&
      (nowMs < known.untilMs ||
        (known.changes === state.changes() && Math.abs(sinceMs - known.sinceMs) < SAME_SUMMARY_MS));
    if (isOfNow) return known.sent;
    const changes = state.changes();
    const sent = state.notices.sentSince(sinceMs);
    const tookMs = this.#monotonic() - nowMs;
    this.#counted.set(state, { changes, sinceMs, untilMs: nowMs + COUNT_REST * tookMs, sent });
    return sent;
  }
}

type Sent = NonNullable<HostReport['sent']>;

const NONE: Sent = { files: 0, bytes: 0 };

interface Count {
  /** See `StateReader.changes`. */
  readonly changes: number;
  readonly sinceMs: number;
  /** It is given out until then, whatever changes: milliseconds of the monotonic clock. */
  readonly untilMs: number;
  readonly sent: Sent;
}

/** How all daemons of a host stand. What concerns all sources is said once. */
function snapshotOf({
  running,
  platformName,
  platformNow,
  halted,
}: Omit<ReportedRun, 'summedUpMs'>): Snapshot {
  const all = running.map(({ daemon, config, state }) =>
    takeSnapshot(state, config, platformName, platformNow, healthOf(daemon)),
  );
  const troubles = all.flatMap((one) => one.troubles);
  const kinds = new Set(troubles.map(({ kind }) => kind));
  const isKnown = (kind: 'credentials' | 'out-of-reach'): boolean =>
    kinds.has(kind) || all.some(({ unknown }) => unknown.every((one) => one.kind !== kind));
  return {
    sources: [...all.flatMap(({ sources }) => sources), ...halted.keys()],
    troubles: [
      ...troubles.filter(
        (one, at) => 'source' in one || troubles.findIndex(({ kind }) => kind === one.kind) === at,
      ),
      ...[...halted].map(([source, reason]) => ({ kind: 'halted' as const, source, reason })),
    ],
    unknown: [
      ...all.flatMap(({ unknown }) => unknown.filter(({ source }) => source !== null)),
      ...(['credentials', 'out-of-reach'] as const).flatMap((kind) =>
        isKnown(kind) ? [] : [{ kind, source: null }],
      ),
    ],
  };
}
