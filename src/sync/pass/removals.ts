import { approvedUntil, HALT_TRAITS, type Halt } from '../../domain/guard.ts';
import { countText } from '../../service/amounts.ts';
import type { FileRecord } from '../../domain/record.ts';
import { judgeRemovals, SecondLook } from '../sources/judge-removals.ts';
import type { Source } from '../sources/source.ts';
import { OutageTurn, removeFile } from './remove-file.ts';
import type { PassContext } from './sync-context.ts';
import type { StateStore } from '../../store/state-store.ts';

/**
 * Removes from the platform what was deleted in a source, after all uploads of the pass: a renamed file is uploaded
 * under its new key before its old key is removed. A file that may have been renamed, and could not be sent, stays.
 *
 * Runs as many removals at a time as uploads; all have ended when it returns. Throws the error of a failed removal.
 *
 * @param recorded - files that the source had on record before the pass.
 * @param approved - approved causes of a halt.
 * @param context - its workers are idle.
 * @returns the halt if removals are held back; then only approved ones were carried out.
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
  const isOtherApproved = approved.some(({ kind }) => HALT_TRAITS[kind].removesMany);
  const approvedMs = isOtherApproved ? Infinity : approvedUntil(context.approved(name));
  const halt = removed === 0 ? null : guardOf({ source, recorded, approved, approvedMs }, context);
  const hasApproval = approvedMs > -Infinity;
  if (halt !== null && !hasApproval) {
    summary.toRemove += removed;
    return halt;
  }
  // An approval confirms a removal as the delay does. A new name must be scanned before the old one is removed.
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
  // Approved removals do not count towards the next guard.
  if (hasApproval) state.removals.forget(name);
  // The others are not due yet.
  summary.toRemove += removed - held - tried;
  return halt;
}

interface JudgedRemovals {
  readonly source: Source;
  readonly recorded: number;
  readonly approved: readonly Halt[];
  /** Removals noticed by then are approved, epoch milliseconds. */
  readonly approvedMs: number;
}

/** Returns the halt if removals are held back. Removals below unmounted file systems, where approved, are expected. */
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

interface Due {
  /** Removals noticed by then, epoch milliseconds. */
  readonly missingSinceMs: number;
  /** `null`: no removal waits for a second look. */
  readonly secondLook: SecondLook | null;
}

/** Carries out removals and returns their number. */
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
      // One removal finds out for all whether the outage is over.
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

/** Marks kept files for removal. The next removals of their source check them like deleted files. */
export function prune(source: Source, files: readonly FileRecord[], state: StateStore): void {
  const target = state.targetId(source.syncTarget);
  for (const { key } of files) state.removals.prune({ target, key });
}
