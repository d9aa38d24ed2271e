import type { ScanEntry } from '../../files/scan.ts';
import type { RecordCursor } from '../../store/file-reader.ts';
import { sendPlannedFile } from './send-planned-file.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsUnchanged } from '../sources/mounts.ts';
import { settingsComparer } from '../../domain/change-in-place.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { planningTime, type WalkContext } from './sync-context.ts';
import { noteItem } from './note-item.ts';
import type { PlanPorts } from '../plan/plan-file.ts';
import { isPlannedSend, type PlanItem } from '../plan/plan-item.ts';
import { planSource } from '../plan/plan-source.ts';
import type { Source } from '../sources/source.ts';
import { Turns } from '../plan/turns.ts';

/** The fingerprints, by path, of files that were sent before the walk over their source. */
export type SentFirst = ReadonlyMap<string, Fingerprint>;

/** A source or a part of it: its files and their records. */
export interface WalkRange {
  readonly source: Source;
  /** The number of the source's target. */
  readonly target: number;
  readonly entries: Iterable<ScanEntry>;
  readonly records: RecordCursor;
  /** See `PlanPorts`. */
  readonly isInDoubt: PlanPorts['isInDoubt'];
  /** Files that need not be planned again. */
  readonly sentFirst?: SentFirst;
}

/**
 * `incomplete`: something could not be read and may still be there. `lost`: the source's directory was unmounted or
 * replaced during the walk.
 */
export type WalkEnd = 'complete' | 'incomplete' | 'lost';

/**
 * Walks a range of a source, hands files to send to the workers, and records everything else. Sends may still run when
 * it returns.
 */
export async function walk(range: WalkRange, context: WalkContext): Promise<WalkEnd> {
  const { walk: stage } = context.stages;
  stage.begin();
  try {
    return await walkOn(range, context);
  } finally {
    stage.end();
  }
}

async function walkOn(
  { source, target, entries, records, isInDoubt, sentFirst }: WalkRange,
  context: WalkContext,
): Promise<WalkEnd> {
  const { config, stop, clock, stages, workers } = context;
  const ports = planPorts(target, context, isInDoubt);
  let complete = true;
  const turns = new Turns(clock);
  for (const item of planSource(source, entries, records, ports)) {
    if (stop.aborted) return 'incomplete';
    if (sentFirst !== undefined && wasDealtWith(item, sentFirst)) {
      // Already counted and reported.
    } else if (isPlannedSend(item)) {
      if (item.record === null) context.claims.keep(target, item.key, source, item.path);
      // Waits for room, so that the queue is bounded. During the wait, the walk need not make progress.
      stages.walk.end();
      try {
        await workers.add(() => sendPlannedFile(item, source, target, context));
      } finally {
        stages.walk.begin();
      }
    } else {
      noteItem(item, source, target, context);
      if (item.kind === 'problem' && item.hidesFiles) complete = false;
    }
    const turn = turns.step();
    if (turn !== null) {
      await turn;
      if (!isStillThere(source)) return 'lost';
      stages.walk.progress();
    }
  }
  if (!isStillThere(source)) return 'lost';
  if (config.removals.mode !== 'keep' && !areMountsUnchanged(source)) {
    context.changeFeed.lookAgain(source.config.name);
    return 'incomplete';
  }
  return complete ? 'complete' : 'incomplete';
}

/** Returns whether an item is the result of a file that was sent first, or that file again. */
function wasDealtWith(item: PlanItem, sentFirst: SentFirst): boolean {
  if (isPlannedSend(item)) return sentFirst.get(item.path) === item.fingerprint;
  return (item.kind === 'unchanged' || item.kind === 'hold') && sentFirst.has(item.path);
}

export function planPorts(
  target: number,
  context: WalkContext,
  isInDoubt: PlanPorts['isInDoubt'],
): PlanPorts {
  const { catalog, round, state } = context;
  return {
    target,
    claims: context.claims,
    limits: context.config.limits,
    now: planningTime(context),
    wallClock: context.clock.now,
    isForced: context.isForced,
    retriesFailed: context.retriesFailed,
    isInDoubt,
    listed: (key) => round.listings.find(target, key),
    needsNoContent: settingsComparer(
      (digest) => state.remote.toldSettings(digest),
      () => catalog?.serves(target, 'update') === true,
    ),
    adopt: ({ key }, source, path) => {
      context.state.adopt({ target, key }, source.config.name, path);
      context.claims.uncountKept({ target, key }, context.summary);
    },
  };
}
