import type { FileRecord } from '../../domain/record.ts';
import type { Emit } from '../events.ts';
import { planningTime, type SyncContext } from '../pass/sync-context.ts';
import { OVERDUE_AFTER_MS } from '../plan/overview.ts';
import { removeWhatIsDue } from '../pass/pass.ts';
import { targetOf, type FoundSource } from '../sources/source.ts';

/** The delay before failed renewals and removals are retried, milliseconds. */
const AGAIN_MS = 60_000;

/**
 * The delay before failed renewals are retried, milliseconds: the next rescan may come after the files have expired.
 * Files that expire within two such delays are retried like all others.
 */
const FAILED_AGAIN_MS = 300_000;

/** The shortest delay before removals are retried, milliseconds. */
const SHORTEST_AGAIN_MS = 2000;

/** Requests that a file be sent. */
type Want = (source: string, path: string) => void;

/** Finds what is due between passes. It has no timers: the daemon polls it often. */
export class DueDates {
  readonly #emit: Emit;
  readonly #sourceNamed: (name: string) => FoundSource | undefined;
  /** By the monotonic clock, milliseconds. */
  #renewalsAgainAtMs = 0;
  #failedAgainAtMs = 0;
  #removalsAgainAtMs = 0;
  /** Since when each source has had overdue renewals, by the monotonic clock. */
  readonly #overdueSinceMs = new Map<string, number>();
  /** Sources whose removals a guard halted: they wait for the next pass. */
  readonly #held = new Set<string>();
  /** The last file that was sent to find out whether an outage is over. */
  #probed = { source: '', path: '' };

  constructor(emit: Emit, sourceNamed: (name: string) => FoundSource | undefined) {
    this.#emit = emit;
    this.#sourceNamed = sourceNamed;
  }

  /** When failed renewals are retried, by the monotonic clock. */
  get failedRenewalsAgainMs(): number {
    return this.#failedAgainAtMs;
  }

  /** Notes the end of a pass, which did everything that was due and reported its halts. */
  passEnded({ clock, config, state }: SyncContext): void {
    this.#held.clear();
    for (const { name } of config.sources)
      if ((state.source(name)?.halt ?? null) !== null) this.#held.add(name);
    this.#removalsAgainAtMs = clock.monotonic();
  }

  /** Requests a rescan of each file that is due: to be renewed, or to be sent again. */
  find(syncContext: SyncContext, want: Want): void {
    this.#findRenewals(syncContext, want);
    findLost(syncContext, want);
    findSuspects(syncContext, want);
  }

  /** Requests the next unsent file if an outage must be probed, and no attempt waits to do it. */
  probe({ breaker, state, config, platformName, walkStates }: SyncContext, want: Want): void {
    if (!breaker.isProbeDue) return;
    for (const after of [this.#probed, { source: '', path: '' }]) {
      for (const source of [...config.sources].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (source.name < after.source || walkStates.get(source.name) === 'halted') continue;
        const target = state.targetId(targetOf(config, source, platformName));
        const path = state.nextUnsent(target, source.name, source.name === after.source ? after.path : '');
        if (path === null) continue;
        this.#probed = { source: source.name, path };
        want(source.name, path);
        return;
      }
    }
  }

  /**
   * Requests a rescan of each file that must be sent again before it expires. Reports how many renewals have been
   * overdue for a minute, such as after a machine slept. Sources that no pass has reached yet have to wait.
   */
  #findRenewals(syncContext: SyncContext, want: Want): void {
    const { state, config, platformName, clock, walkStates } = syncContext;
    if (clock.monotonic() < this.#renewalsAgainAtMs) return;
    const nowMs = planningTime(syncContext)();
    const areFailedDue = clock.monotonic() >= this.#failedAgainAtMs;
    if (areFailedDue) this.#failedAgainAtMs = clock.monotonic() + FAILED_AGAIN_MS;
    const failedUntilMs = areFailedDue ? Number.MAX_SAFE_INTEGER : nowMs + 2 * FAILED_AGAIN_MS;
    let late = 0;
    for (const source of config.sources) {
      const walkState = walkStates.get(source.name);
      if (walkState === undefined) continue;
      const target = state.targetId(targetOf(config, source, platformName));
      const isHalted = walkState === 'halted';
      const overdue = state.countOverdueRenewals(target, source.name, nowMs - OVERDUE_AFTER_MS);
      const sinceMs = this.#overdueSinceMs.get(source.name) ?? clock.monotonic();
      if (overdue === 0) this.#overdueSinceMs.delete(source.name);
      else this.#overdueSinceMs.set(source.name, sinceMs);
      if (isHalted || clock.monotonic() - sinceMs >= AGAIN_MS) late += overdue;
      // Files of a halted source are not sent.
      if (isHalted) continue;
      const pageAfter = (last: FileRecord | null) =>
        state.renewalsDue(target, source.name, nowMs, failedUntilMs, last);
      for (let page = pageAfter(null); page.length > 0; page = pageAfter(page.at(-1) ?? null)) {
        for (const { path } of page) want(source.name, path);
        this.#renewalsAgainAtMs = clock.monotonic() + AGAIN_MS;
      }
    }
    this.#emit({ kind: 'renewals-overdue', count: late });
  }

  /** Returns whether files have been missing long enough to be removed from the platform. */
  areRemovalsDue(syncContext: SyncContext): boolean {
    if (syncContext.clock.monotonic() < this.#removalsAgainAtMs) return false;
    return this.#sourcesWithRemovals(syncContext).length > 0;
  }

  /** Removes these files, unless a guard halts the source. Must not run during a pass. */
  async remove(syncContext: SyncContext): Promise<void> {
    const { clock, waitLimits, stop } = syncContext;
    for (const found of this.#sourcesWithRemovals(syncContext)) {
      if (stop.aborted) return;
      const halt = await removeWhatIsDue(found, syncContext);
      if (halt !== null) this.#held.add(found.config.name);
    }
    const againMs = Math.min(AGAIN_MS, Math.max(SHORTEST_AGAIN_MS, waitLimits.removalMs));
    this.#removalsAgainAtMs = clock.monotonic() + againMs;
  }

  #sourcesWithRemovals({
    state,
    config,
    platformName,
    walkStates,
    waitLimits,
    clock,
  }: SyncContext): FoundSource[] {
    return state.sourcesWithRemovalsDue(clock.now() - waitLimits.removalMs).flatMap(({ source, target }) => {
      const own = config.sources.find(({ name }) => name === source);
      const found = this.#sourceNamed(source);
      if (own === undefined || found === undefined || this.#held.has(source)) return [];
      if (state.targetId(targetOf(config, own, platformName)) !== target) return [];
      if (config.removals.mode === 'keep' && !state.hasAskedRemovals(target, source)) return [];
      // Nothing is removed after an incomplete walk.
      return walkStates.get(source) === 'complete' ? [found] : [];
    });
  }
}

/** The most files that are requested at a time; the next check finds the others. */
const AT_A_TIME = 1000;

/**
 * Requests a rescan of each file that the platform lost after its store had accepted it, and whose resend is due. If
 * the rescan does not send it, the next pass that retries failed files does.
 */
function findLost(
  { confirmations, state, clock }: Pick<SyncContext, 'confirmations' | 'state' | 'clock'>,
  want: Want,
): void {
  for (const { target } of confirmations?.bots ?? []) {
    for (const lost of state.resendsDue(target, clock.now(), AT_A_TIME)) {
      state.remote.takeResend(lost);
      want(lost.source, lost.path);
    }
  }
}

/** Requests that files be sent again that a late request of another host may have overwritten. Returns their number. */
function findSuspects({ state, clock }: Pick<SyncContext, 'state' | 'clock'>, want: Want): number {
  const due = state.suspectsDue(clock.now(), AT_A_TIME);
  for (const suspect of due) {
    state.suspects.take(suspect);
    want(suspect.source, suspect.path);
  }
  state.suspects.dropForgotten(clock.now());
  return due.length;
}

/** Marks all due suspects before a pass, which sends them because their records then say that they are in progress. */
export function findAllSuspects(context: Pick<SyncContext, 'state' | 'clock'>): void {
  while (findSuspects(context, () => undefined) > 0);
}
