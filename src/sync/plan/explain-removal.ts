import type { Config } from '../../config/config.ts';
import { formatDuration } from '../../config/duration.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import type { StateReader, StoredFile } from '../../state/state-reader.ts';
import { mayBeServed } from '../catalog/served-catalog.ts';

/** What an explanation of a removal is made from. `nowMs`: epoch milliseconds. */
interface RemovalInput {
  readonly config: Config;
  readonly state: StateReader;
  readonly nowMs: number;
}

/** What a pass would do about a file that is to be removed from a target, and why. */
export function explainRemoval(
  target: number,
  own: StoredFile,
  input: RemovalInput,
): { readonly action: 'remove' | 'keep'; readonly reason: string } {
  const halt = haltOnRecord(target, own, input);
  if (halt !== null) {
    const fix = 'run: botsync approve, or without the service botsync sync --once --allow-removals';
    return {
      action: 'keep',
      reason: `the file was deleted, but the source is halted: ${halt.reason}; ${fix}`,
    };
  }
  const { delayMs } = input.config.removals;
  const when = `a single pass does it at once, the service ${formatDuration(delayMs)} after it noticed the deletion`;
  return { action: 'remove', reason: `the file was deleted, and ${howItGoes(target, input)}; ${when}` };
}

/**
 * What would halt the source for too many removals, by what earlier passes noticed and this file. What is missing besides
 * is known only after all of the source was gone through.
 */
function haltOnRecord(
  target: number,
  { source, absence }: StoredFile,
  { config, state, nowMs }: RemovalInput,
): Halt | null {
  const { present, removed } = state.countRecorded(target, source);
  const wanted = absence === 'removed' ? removed : removed + 1;
  const recent = state.countRemovals(source, nowMs - REMOVAL_WINDOW_MS);
  return guardRemovals(wanted, recent, present + removed + recent, config.removals);
}

function howItGoes(target: number, { config, state, nowMs }: RemovalInput): string {
  const { mode } = config.removals;
  const written = `removals.mode is "${mode}"`;
  const isLetExpire = 'is emptied there and expires';
  if (mode !== 'delete') return `${isLetExpire}: ${written}`;
  if (config.platform.operations === 'specified')
    return `${isLetExpire}: ${written}, but platform.operations is "specified"`;
  const isServed = (['get', 'delete'] as const).every((operation) =>
    mayBeServed(state.remote.unserved(target, operation), nowMs),
  );
  return isServed
    ? `is deleted there if it is still the one that was sent: ${written}`
    : `${isLetExpire}: ${written}, but the platform did not serve that`;
}
