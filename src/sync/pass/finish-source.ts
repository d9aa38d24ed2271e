import { describeHalt } from '../../words/halt.ts';
import type { Halt } from '../../domain/guard.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { mountsToRemember, placeOfSource } from '../sources/root-check.ts';
import type { FoundSource } from '../sources/source.ts';
import type { PassContext, WalkContext } from './sync-context.ts';
import { removeMissing } from './removals.ts';
import type { SourceWalk, Visited } from './visit-sources.ts';

/**
 * Finishes a source whose files were sent: removes files, reports a halt, and records the source's state. Returns the
 * halt, if any.
 */
export async function finishSource(
  { found, recorded, walk: ended }: Visited,
  context: PassContext,
): Promise<Halt | null> {
  // A rescan during the walk may have missed something.
  const isUnseen = ended.kind === 'complete' && context.round.unseen.has(found.config.name);
  const walk: SourceWalk = isUnseen ? { ...ended, kind: 'incomplete' } : ended;
  const halt = walk.kind === 'halted' ? walk.halt : await removeFrom(found, walk, recorded, context);
  if (halt !== null) reportHalt(found.config.name, halt, context);
  // A walk that a stop interrupted proves nothing about the source.
  if (context.stop.aborted && halt === null) return null;
  remember(found, walk, halt, context);
  return halt;
}

/** Removes what a complete walk found deleted. Returns the halt, if any. */
async function removeFrom(
  found: FoundSource,
  walk: Exclude<SourceWalk, { kind: 'halted' }>,
  recorded: number,
  context: PassContext,
): Promise<Halt | null> {
  if (found.kind === 'missing') return null;
  const { name } = found.config;
  const { state, config } = context;
  const target = state.targetId(found.source.syncTarget);
  if (config.removals.mode === 'keep' && !state.hasAskedRemovals(target, name)) return null;
  switch (walk.kind) {
    case 'complete':
      return removeMissing(found.source, recorded, walk.approved, context);
    case 'incomplete': {
      // After an incomplete walk, nothing is removed.
      const { summary, stop, emit } = context;
      const { removed } = state.countRecorded(target, name);
      summary.toRemove += removed;
      if (removed > 0 && !stop.aborted)
        emit({
          kind: 'warning',
          message: `${name}: nothing is removed from the platform (${removed} to remove), because a part of the source could not be read`,
        });
      return null;
    }
  }
}

function reportHalt(source: string, halt: Halt, { state, summary, emit, howToApprove }: WalkContext): void {
  const before = state.source(source)?.halt ?? null;
  const isKnown = before !== null && describeHalt(before) === describeHalt(halt);
  summary.problems += 1;
  emit({ kind: 'halted', source, halt, howToApprove, isKnown });
}

function remember(found: FoundSource, walk: SourceWalk, halt: Halt | null, context: WalkContext): void {
  const { state, walkStates, round, config } = context;
  const { name, directory } = found.config;
  const isOther = found.kind === 'found' && !isStillThere(found.source);
  walkStates.set(name, isOther ? 'halted' : walk.kind);
  if (walk.kind !== 'halted') state.problems.dropBefore(name, round.pass);
  if (walk.kind !== 'halted' && found.kind === 'found')
    state.remote.endAdoption(state.targetId(found.source.syncTarget), name);
  if (found.kind === 'found' && halt === null) {
    const { source } = found;
    const target = state.targetId(source.syncTarget);
    state.saveMounts(name, mountsToRemember(source, target, state, config.removals.mode));
    state.saveSource(name, { directory, identity: source.identity, halt });
    state.savePlace(name, placeOfSource(source));
  } else {
    // The directory of a halted source is not recorded as the right one.
    const { identity = '' } = state.source(name) ?? {};
    state.saveSource(name, { directory, identity, halt });
  }
}
