import type { FileRecord } from '../../domain/record.ts';
import type { Emit } from '../events.ts';
import { planningTime, type SyncContext } from '../pass/sync-context.ts';
import { OVERDUE_AFTER_MS } from '../plan/overview.ts';
import { removeWhatIsDue } from '../pass/pass.ts';
import { targetOf, type FoundSource } from '../sources/source.ts';

/** What could not be renewed or removed when it was due is retried after so long, milliseconds. */
const AGAIN_MS = 60_000;

/**
 * Renewals that failed, milliseconds: the next rescan may come after the files have expired. When there is time for two
 * of these at most, they are made like the others.
 */
const FAILED_AGAIN_MS = 300_000;

/** Removals are retried no sooner than this, milliseconds. */
const SHORTEST_AGAIN_MS = 2000;

/** Knows which renewals and removals are due between passes. It keeps no timers: the daemon asks often. */
export class DueDates {
  readonly #emit: Emit;
  readonly #sourceNamed: (name: string) => FoundSource | undefined;
  /** By the monotonic clock, milliseconds. */
  #renewalsAgainAtMs = 0;
  #failedAgainAtMs = 0;
  #removalsAgainAtMs = 0;
  /** Since when each source has had renewals that are overdue, by the monotonic clock. */
  readonly #overdueSinceMs = new Map<string, number>();
  /** Sources whose removals a guard halted: nothing more of it until the next pass. */
  readonly #held = new Set<string>();

  constructor(emit: Emit, sourceNamed: (name: string) => FoundSource | undefined) {
    this.#emit = emit;
    this.#sourceNamed = sourceNamed;
  }

  /** When renewals that failed are retried, by the monotonic clock. */
  get failedRenewalsAgainMs(): number {
    return this.#failedAgainAtMs;
  }

  /** A pass has done all that was due, and told what it halted. */
  passEnded({ clock, config, state }: SyncContext): void {
    this.#held.clear();
    for (const { name } of config.sources)
      if ((state.source(name)?.halt ?? null) !== null) this.#held.add(name);
    this.#removalsAgainAtMs = clock.monotonic();
  }

  /**
   * Asks for a rescan of each file that is to be sent again before it expires, and tells how many are late and were not
   * made up for within a minute, as after a night's sleep they are. What no pass has come to yet has to wait.
   */
  findRenewals(syncContext: SyncContext, want: (source: string, path: string) => void): void {
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
      // Nothing is sent of a halted source.
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

  /** Whether files were noticed missing long enough ago to be removed from the platform. */
  areRemovalsDue(syncContext: SyncContext): boolean {
    if (syncContext.clock.monotonic() < this.#removalsAgainAtMs) return false;
    return this.#sourcesWithRemovals(syncContext).length > 0;
  }

  /** Removes them, unless a guard halts it. Not to be run beside a pass. */
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
      // After a walk that could not see everything nothing is removed.
      return walkStates.get(source) === 'complete' ? [found] : [];
    });
  }
}
