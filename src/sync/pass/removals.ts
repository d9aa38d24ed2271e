import { approvedUntil, type Halt } from '../../domain/guard.ts';
import { countText } from '../../service/amounts.ts';
import type { FileRecord } from '../../domain/record.ts';
import { judgeRemovals } from '../sources/judge-removals.ts';
import { SecondLook } from '../sources/second-look.ts';
import type { Source } from '../sources/source.ts';
import { OutageTurn, removeFile } from './remove-file.ts';
import type { PassContext } from './sync-context.ts';
import type { StateStore } from '../../store/state-store.ts';

/**
 * Removes from the platform what was removed from a source, after all uploads of the pass: a renamed file is there
 * under its new key before it goes under the old one. What may be a renamed file that could not be sent stays.
 *
 * As many are under way at a time as uploads would be; all are over when it returns.
 *
 * @param recorded - files the source had on record before the pass.
 * @param approved - what someone has checked that would have halted the source.
 * @param context - its workers are idle. Throws what a removal threw.
 * @returns the halt when there are too many, and nothing was removed.
 */
export async function removeMissing(
  source: Source,
  recorded: number,
  approved: readonly Halt[],
  context: PassContext,
): Promise<Halt | null> {
  const { state, clock, summary, waitLimits, changeFeed, config, emit } = context;
  const name = source.config.name;
  const target = state.targetId(source.syncTarget);
  const { removed } = state.countRecorded(target, name);
  const isOtherApproved = approved.some(({ kind }) => REMOVES_MANY.has(kind));
  const approvedMs = isOtherApproved ? Infinity : approvedUntil(context.approved(name));
  const halt = removed === 0 ? null : guardOf({ source, recorded, approved, approvedMs }, context);
  const hasApproval = approvedMs > -Infinity;
  if (halt !== null && !hasApproval) {
    summary.toRemove += removed;
    return halt;
  }
  // An approval confirms a removal as well as time does. A new name must have been looked at before its old one goes.
  const isAtOnce = halt === null && approved.length > 0;
  const confirmedMs = isAtOnce ? Infinity : halt === null ? clock.now() - waitLimits.removalMs : -Infinity;
  const missingSinceMs = Math.min(Math.max(confirmedMs, approvedMs), changeFeed.seenUntilMs(name));
  const held = context.retriesFailed ? 0 : state.countFailedRemovals(target, name);
  summary.failed += held;
  const isConfirmed = isAtOnce || hasApproval;
  const secondLook = isConfirmed ? null : new SecondLook(source, clock.now(), config.removals.delayMs);
  const tried = await removeAll(source, target, { missingSinceMs, secondLook }, context);
  for (const [directory, files] of secondLook?.waiting ?? [])
    emit({
      kind: 'warning',
      message: `${name}/${directory} is empty now: a pass that still finds it empty after removals.delay removes ${countText(files, 'file')} from the platform`,
    });
  // What was approved does not count against what is removed next.
  if (hasApproval) state.removals.forget(name);
  // The time of the others has not come.
  summary.toRemove += removed - held - tried;
  return halt;
}

/** Whoever approved one of these has approved all that it removes. */
const REMOVES_MANY = new Set<Halt['kind']>(['replaced', 'emptied', 'new-keys']);

/** The removals of a source that the guard judges. */
interface JudgedRemovals {
  readonly source: Source;
  readonly recorded: number;
  readonly approved: readonly Halt[];
  /** Those noticed by then are approved, epoch milliseconds. */
  readonly approvedMs: number;
}

/** Returns the halt where removals are held back; those below mounts that somebody let go are expected. */
function guardOf(
  { source, recorded, approved, approvedMs }: JudgedRemovals,
  { state, clock, config }: PassContext,
): Halt | null {
  const { name } = source.config;
  const target = state.targetId(source.syncTarget);
  const mounts = mountsIn(approved);
  const unapproved = function* (): Generator<FileRecord, void> {
    for (const removal of state.removalsToJudge(target, name, approvedMs))
      if (!mounts.some((mount) => removal.path.startsWith(`${mount}/`))) yield removal;
  };
  const nowMs = clock.now();
  const held = judgeRemovals(source, unapproved(), recorded, { state, config, nowMs });
  return held === null ? null : { kind: 'mass-removal', ...held, noticedUntilMs: nowMs };
}

/** Which removals are carried out. */
interface Due {
  /** Those noticed by then, epoch milliseconds. */
  readonly missingSinceMs: number;
  /** `null`: none has to wait for another look. */
  readonly secondLook: SecondLook | null;
}

/** Carries out removals. Returns how many that were. */
async function removeAll(
  source: Source,
  target: number,
  { missingSinceMs, secondLook }: Due,
  context: PassContext,
): Promise<number> {
  const { state, workers, retriesFailed } = context;
  const { name } = source.config;
  let tried = 0;
  const turn = new OutageTurn(context);
  const pageAfter = (path: string) => state.removalsDue(target, name, path, missingSinceMs, retriesFailed);
  for (let page = pageAfter(''); page.length > 0; page = pageAfter(page.at(-1)?.path ?? '')) {
    for (const record of page) {
      const noticedAtMs = state.find({ target, key: record.key })?.absentSinceMs ?? 0;
      if (secondLook?.holds(record.path, noticedAtMs) === true) continue;
      tried += 1;
      await workers.add(() => removeFile(source, target, record, turn, context));
      // Whether an outage is over is found out by one for all.
      if (context.isWatched && context.breaker.isOpen) await workers.idle();
    }
  }
  await workers.idle();
  return tried;
}

function mountsIn(approved: readonly Halt[]): string[] {
  return approved.flatMap((halt) =>
    halt.kind === 'mounts-changed' ? halt.mounts.map(({ place }) => place) : [],
  );
}

/** Has kept files removed by the next removals of their source, which check all that they check of deleted files. */
export function prune(source: Source, files: readonly FileRecord[], state: StateStore): void {
  const target = state.targetId(source.syncTarget);
  for (const { key } of files) state.removals.prune({ target, key });
}
