import type { Outage } from '../../upload/breaker-terms.ts';
import type { Hold } from './progress.ts';

/** Shorter pauses are not worth a word, milliseconds. */
const SHORT_MS = 1000;

/**
 * Why nothing is sent for a while, for a progress line; `null`: something may be.
 *
 * @param pausedForMs - how long the platform has asked us to wait from now.
 * @param giveUpAfterMs - an outage is waited for so long; `null`: forever.
 */
export function holdOf(
  outage: Outage | null,
  pausedForMs: number,
  giveUpAfterMs: number | null,
): Hold | null {
  if (outage !== null) {
    const nowMs = Date.now();
    return {
      reason: `platform unreachable: ${outage.reason}`,
      goesOnInMs: outage.nextProbeMs === null ? null : outage.nextProbeMs - nowMs,
      givesUpInMs: giveUpAfterMs === null ? null : outage.sinceMs + giveUpAfterMs - nowMs,
    };
  }
  if (pausedForMs <= SHORT_MS) return null;
  return { reason: 'the platform asked for a pause', goesOnInMs: pausedForMs, givesUpInMs: null };
}
