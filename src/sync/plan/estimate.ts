import type { Clock } from '../../domain/clock.ts';
import type { Additions } from '../../domain/usage.ts';
import { isPlannedSend } from './plan-item.ts';
import { lookAhead, type LookAheadInput } from './look-ahead.ts';
import { PlannedAdditions } from './planned-additions.ts';
import { Turns } from './turns.ts';

/** How much a pass will have to send. */
export interface Estimate {
  readonly files: number;
  /** Content bytes. */
  readonly bytes: number;
  /** What it takes of the platform's quotas. */
  readonly additions: Additions;
}

/**
 * Counts ahead of a pass what it will send: a pass itself knows that only at its end. `null` when stopped.
 *
 * @param seen - told how many files were checked so far.
 */
export async function estimate(
  input: LookAheadInput,
  clock: Clock,
  stop: AbortSignal,
  seen: (files: number) => void = () => undefined,
): Promise<Estimate | null> {
  let looked = 0;
  let files = 0;
  let bytes = 0;
  const added = new PlannedAdditions(input.state);
  const turns = new Turns(clock);
  for (const ahead of lookAhead(input)) {
    if (stop.aborted) return null;
    if (ahead.kind === 'item' && ahead.item.kind !== 'tick' && ahead.item.kind !== 'absent') seen(++looked);
    if (
      ahead.kind === 'item' &&
      isPlannedSend(ahead.item) &&
      ahead.item.kind === 'send' &&
      !ahead.item.isInPlace
    ) {
      files += 1;
      bytes += ahead.item.sizeBytes;
      added.add(ahead.item);
    }
    const turn = turns.step();
    if (turn !== null) await turn;
  }
  return { files, bytes, additions: added.additions };
}
