import type { Halt } from '../../domain/guard.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { mountsBelow } from '../sources/mounts.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import type { PassContext, SyncContext, WalkContext } from './sync-context.ts';
import { noteProblem } from './note-item.ts';
import { removeMissing } from './removals.ts';
import type { SourceWalk, Visited } from './visit-sources.ts';

/**
 * Removes what is to be removed of a source whose files were sent, tells of a halt, and remembers how the source was
 * left. Returns the halt, if there is one.
 */
export async function finishSource(
  { found, recorded, walk: ended }: Visited,
  context: PassContext,
): Promise<Halt | null> {
  // While it was walked, a rescan of a path of it may have missed something.
  const isUnseen = ended.kind === 'complete' && context.round.unseen.has(found.config.name);
  const walk: SourceWalk = isUnseen ? { ...ended, kind: 'incomplete' } : ended;
  const halt = walk.kind === 'halted' ? walk.halt : await removeFrom(found, walk, recorded, context);
  noteHalt(found.config.name, halt, context);
  // A walk that a stop cut short says nothing of the source.
  if (context.stop.aborted && halt === null) return null;
  remember(found, walk, halt, context);
  return halt;
}

/** Removes what a complete walk showed to be gone. Returns what halts it. */
async function removeFrom(
  found: FoundSource,
  walk: Exclude<SourceWalk, { kind: 'halted' }>,
  recorded: number,
  context: PassContext,
): Promise<Halt | null> {
  if (found.kind === 'missing' || context.config.removals.mode === 'keep') return null;
  const { name } = found.config;
  switch (walk.kind) {
    case 'complete':
      return removeMissing(found.source, recorded, walk.approved, context);
    case 'incomplete': {
      // What would be removed after a complete walk is left alone for now.
      const { state, summary, stop, report } = context;
      const { removed } = state.countRecorded(state.targetId(found.source.syncTarget), name);
      summary.toRemove += removed;
      if (removed > 0 && !stop.aborted)
        report.warn(
          `${name}: nothing is removed from the platform (${removed} to remove), because a part of the source could not be read`,
        );
      return null;
    }
  }
}

/** A halt is a problem of the source itself, which has the path `.`; the one before is over. */
function noteHalt(name: string, halt: Halt | null, context: WalkContext): void {
  context.state.problems.dropAt(name, '.');
  if (halt === null) {
    context.halts.delete(name);
    return;
  }
  context.halts.set(name, halt);
  const fix = halt.kind === 'missing' ? '' : `; if that is right, ${context.howToAllow}`;
  const what = halt.kind === 'mass-removal' ? 'none of these was' : 'nothing was';
  const reason = `halted: ${halt.reason}; ${what} removed${fix}`;
  noteProblem(context, { source: name, path: '.', key: null, kind: 'problem', reason });
}

function remember(found: FoundSource, walk: SourceWalk, halt: Halt | null, context: WalkContext): void {
  const { state, walkStates, round } = context;
  const { name, directory } = found.config;
  const isOther = found.kind === 'found' && !isStillThere(found.source);
  walkStates.set(name, isOther ? 'halted' : walk.kind);
  if (walk.kind !== 'halted') state.problems.dropBefore(name, round.pass);
  if (walk.kind !== 'halted' && found.kind === 'found')
    state.remote.endAdoption(state.targetId(found.source.syncTarget), name);
  const halted = halt?.reason ?? null;
  if (found.kind === 'found' && halt === null) {
    noteMounts(found.source, context);
    state.saveSource(name, { directory, identity: found.source.identity, halted });
  } else {
    // The directory of a halted source is not taken for the right one.
    state.saveSource(name, { directory, identity: state.source(name)?.identity ?? '', halted });
  }
}

/**
 * Notes what is mounted below a source, also what came while it was walked. Where nothing is removed, none is forgotten: its
 * files would be removed should that change.
 */
function noteMounts(source: Source, { state, config }: SyncContext): void {
  const { name } = source.config;
  const kept = config.removals.mode === 'keep' ? state.mounts(name) : [];
  state.saveMounts(name, [...new Set([...kept, ...source.mounts, ...mountsBelow(source)])].sort());
}
