import { describeHalt, describeRemovals } from '../../words/halt.ts';
import { absenceActionOf, type FileRecord } from '../../domain/record.ts';
import { exitCodeOf } from '../../domain/exit-code.ts';
import { sizeAndMtimeOf } from '../../domain/fingerprint.ts';
import type { Halt } from '../../domain/guard.ts';
import { emptySummary, type FileEvent, type Summary } from '../../domain/report.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Additions } from '../../domain/usage.ts';
import { compareContent } from '../../files/compare-content.ts';
import { isHaltedBy } from './explanation.ts';
import { lookAhead, type Ahead, type LookAheadInput, Moves } from './look-ahead.ts';
import { outcomeOf, outcomeOfSend, whyRemoved, type ItemOutcome } from './outcome.ts';
import { PlannedAdditions } from './estimate.ts';
import { isPlannedSend, type PlanItem, type PlannedSend } from './plan-item.ts';
import type { RowId } from '../../store/file-reader.ts';
import { whyUnreadable } from '../sources/presence.ts';
import { judgeRemovals, SecondLook } from '../sources/judge-removals.ts';
import type { Source } from '../sources/source.ts';
import { Turns } from './turns.ts';
import { unmatchedPatterns, type UnmatchedPattern } from './pattern-warnings.ts';

/** The results that a pass would have. */
export interface DryRunResult {
  readonly summary: Summary;
  readonly exitCode: number;
  /** Additional use of the platform's quotas. */
  readonly additions: Additions;
  /** Rules and announced patterns that match no file. */
  readonly unmatched: readonly UnmatchedPattern[];
}

/**
 * Reports what a pass would do. Reads files only where their content decides; sends and writes nothing.
 *
 * @param stop - ends it early.
 */
export async function dryRun(
  input: LookAheadInput,
  clock: Clock,
  onEvent: (event: FileEvent) => void,
  stop?: AbortSignal,
): Promise<DryRunResult> {
  const beganMs = clock.monotonic();
  const plan = new DryRun(input, onEvent);
  const turns = new Turns(clock);
  for (const ahead of lookAhead(input, plan.moves)) {
    await plan.take(ahead);
    const turn = turns.step();
    if (turn !== null) await turn;
    if (stop?.aborted === true) break;
  }
  if (stop?.aborted !== true) plan.finish();
  plan.summary.durationMs = Math.round(clock.monotonic() - beganMs);
  const exitCode = exitCodeOf(plan.summary, {
    interrupted: stop?.aborted === true,
    credentials: false,
    halted: plan.isHalted,
  });
  const unmatched = stop?.aborted === true ? [] : unmatchedPatterns(input.config, plan.seen);
  return { summary: plan.summary, exitCode, additions: plan.added.additions, unmatched };
}

type End = Ahead & { readonly kind: 'end' };
type Item = Ahead & { readonly kind: 'item' };

/** A file on record that does not exist, or did not when last checked. */
interface Left {
  readonly id: RowId;
  readonly source: Source;
  readonly record: FileRecord;
  /** It will be removed; otherwise it is kept. */
  readonly goes: boolean;
  /** It certainly does not exist. */
  readonly isGone: boolean;
  /** When it was noticed missing, epoch milliseconds. */
  readonly noticedAtMs: number;
}

/** The reason of a removal that is listed, but not carried out. */
const HELD_BACK = 'deleted; its removal is held back by a halt';

class DryRun {
  readonly summary: Summary = emptySummary();
  isHalted = false;
  /** Keys whose records would move to other files. */
  readonly moves = new Moves();
  readonly added: PlannedAdditions;
  readonly #input: LookAheadInput;
  readonly #onEvent: (event: FileEvent) => void;
  readonly #left: Left[] = [];
  /** Size and mtime of files that the platform would not have as they are. */
  readonly #unsent = new Set<string>();
  /** Sources that were walked. */
  readonly #ends: End[] = [];

  constructor(input: LookAheadInput, onEvent: (event: FileEvent) => void) {
    this.#input = input;
    this.added = new PlannedAdditions(input.state);
    this.#onEvent = onEvent;
  }

  /** The sources of which every file was checked. */
  get seen(): Source[] {
    return this.#ends.flatMap(({ source, isComplete }) => (isComplete ? [source] : []));
  }

  async take(ahead: Ahead): Promise<void> {
    switch (ahead.kind) {
      case 'halt':
        this.#halt(ahead.source, ahead.halt.kind, describeHalt(ahead.halt));
        break;
      case 'item': {
        const { item } = ahead;
        if (isPlannedSend(item)) this.#count(await this.#send(item, ahead), ahead);
        else this.#note(item, ahead);
        break;
      }
      case 'end':
        this.#ends.push(ahead);
        break;
    }
  }

  async #send(item: PlannedSend, { source, target }: Item): Promise<ItemOutcome> {
    const { path, key } = item;
    if (item.record === null) this.#input.claims.keep(target, key, source, path);
    const isSame = item.kind === 'verify' && (await this.#hasKnownContent(item, source, target));
    if (isSame && item.record?.verdict === 'unsearchable') {
      const { state, config } = this.#input;
      const held = { kind: 'hold', path, key, record: item.record } as const;
      return outcomeOf(held, state.find({ target, key }), config.removals.mode);
    }
    const outcome = outcomeOfSend(item, isSame, isSame ? null : whyUnreadable(source, path));
    const isSent = outcome.counts === 'uploaded' || outcome.counts === 'renewed';
    if (isSent && !item.isInPlace) {
      this.summary.bytes += item.sizeBytes;
      this.added.add(item);
    }
    if (isSent && item.found?.kind === 'foreign') this.summary.overwritten += 1;
    return outcome;
  }

  /** Returns whether a file has the recorded content, or that of the platform's file. */
  async #hasKnownContent(
    { path, key, found }: PlannedSend,
    source: Source,
    target: number,
  ): Promise<boolean> {
    const recorded =
      found?.kind === 'adoptable' ? found.sha256 : (this.#input.state.find({ target, key })?.sha256 ?? null);
    return (
      recorded !== null && (await compareContent(source, path, recorded, this.#input.now())).kind === 'same'
    );
  }

  #note(item: Exclude<PlanItem, PlannedSend>, ahead: Item): void {
    const { state, config } = this.#input;
    const { mode } = config.removals;
    if (!('record' in item) || item.record === null || item.kind === 'unchanged') {
      this.#count(outcomeOf(item, null, mode), ahead);
      return;
    }
    const { record } = item;
    const id = { target: ahead.target, key: record.key };
    const stored = state.find(id);
    const outcome = outcomeOf(item, stored, mode);
    const { absence = record.absence, absenceAction } = outcome;
    const goes = stored !== null && absence !== null && absenceActionOf(stored, absence, mode) === 'remove';
    // Kept files are counted only once it is known that their records did not move.
    if (goes || absenceAction === 'keep') {
      const isNoticed = stored !== null && stored.absence !== null && stored.absence !== 'kept';
      const noticedAtMs = isNoticed ? (stored.absentSinceMs ?? 0) : this.#input.now();
      this.#left.push({
        id,
        source: ahead.source,
        record,
        goes,
        isGone: absenceAction === 'remove',
        noticedAtMs,
      });
    }
    if (absenceAction === null) this.#count(outcome, ahead);
  }

  #count({ counts, event, unsent }: ItemOutcome, { source }: Item): void {
    if (counts !== null) this.summary[counts] += 1;
    if (unsent !== null) this.#unsent.add(sizeAndMtimeOf(unsent));
    if (event === null) return;
    const { kind, path, key, reason } = event;
    this.#onEvent({ kind, source: source.config.name, path, key, reason });
  }

  /** Counts removed and kept files, once it is known which records moved. */
  finish(): void {
    const left = this.#left.filter(({ id }) => !this.moves.has(id));
    this.summary.kept += left.filter(({ goes }) => !goes).length;
    for (const end of this.#ends)
      this.#remove(
        end,
        left.filter(({ goes, source }) => goes && source === end.source),
      );
  }

  #remove({ source, target, isComplete, movedAway }: End, missing: readonly Left[]): void {
    const { state, config, now } = this.#input;
    const name = source.config.name;
    if (!isComplete) {
      this.summary.toRemove += missing.length;
      return;
    }
    const { present, removed } = state.countRecorded(target, name);
    const judged = missing.map(({ record }) => record).filter(({ absence }) => absence !== 'pruned');
    const recorded = present + removed - movedAway;
    const held = judgeRemovals(source, judged, recorded, { state, config, nowMs: now() });
    if (held !== null) {
      this.summary.toRemove += missing.length;
      // Lists them, so that a user can check them before approving.
      for (const { record } of missing) this.#tellRemoval(name, record, HELD_BACK);
      this.#halt(name, 'mass-removal', describeRemovals(held.excess));
      return;
    }
    const secondLook = new SecondLook(source, now(), config.removals.delayMs);
    for (const { record, isGone, noticedAtMs } of missing) {
      if (secondLook.holds(record.path, noticedAtMs)) {
        this.summary.toRemove += 1;
        continue;
      }
      if (!isGone || this.#unsent.has(sizeAndMtimeOf(record.fingerprint))) {
        this.summary.pending += 1;
        continue;
      }
      this.summary.removed += 1;
      this.#tellRemoval(name, record, whyRemoved(source, record));
    }
  }

  #tellRemoval(source: string, { path, key }: FileRecord, reason: string): void {
    this.#onEvent({ kind: 'remove', source, path, key, reason });
  }

  #halt(source: string, kind: Halt['kind'], why: string): void {
    const isHalted = isHaltedBy(kind, source, this.#input.state);
    const reason = `${isHalted ? 'halted' : 'would be halted'}: ${why}`;
    this.isHalted = true;
    this.summary.problems += 1;
    this.#onEvent({ kind: 'problem', source, path: '.', key: null, reason });
  }
}
