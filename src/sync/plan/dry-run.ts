import { fateOf } from '../../domain/absence.ts';
import { exitCodeOf } from '../../domain/exit-code.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import { emptySummary, type FileEvent, type Summary } from '../../domain/report.ts';
import type { Clock } from '../../domain/clock.ts';
import { compareContent } from '../../upload/compare-content.ts';
import { lookAhead, type Ahead, type LookAheadInput } from './look-ahead.ts';
import { isPlannedSend, type PlannedSend } from './plan-source.ts';
import type { RowId } from '../../state/state-reader.ts';
import { whyUnreadable } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { Turns } from './turns.ts';

/** What a pass would come to. */
export interface DryRunResult {
  readonly summary: Summary;
  readonly exitCode: number;
}

/** Tells what a pass would do. Reads files where only their content tells, sends nothing, writes nothing. */
export async function dryRun(
  input: LookAheadInput,
  clock: Clock,
  onEvent: (event: FileEvent) => void,
): Promise<DryRunResult> {
  const beganMs = clock.monotonic();
  const plan = new DryRun(input, onEvent);
  const turns = new Turns(clock);
  for (const ahead of lookAhead(input)) {
    await plan.take(ahead);
    const turn = turns.step();
    if (turn !== null) await turn;
  }
  plan.finish();
  plan.summary.durationMs = Math.round(clock.monotonic() - beganMs);
  const exitCode = exitCodeOf(plan.summary, {
    interrupted: false,
    credentials: false,
    halted: plan.isHalted,
  });
  return { summary: plan.summary, exitCode };
}

type End = Ahead & { readonly kind: 'end' };

/** A file on record that is not there. `goes`: it is to be removed; else it is kept. */
interface Left {
  readonly id: RowId;
  readonly source: Source;
  readonly path: string;
  readonly goes: boolean;
}

class DryRun {
  readonly summary: Summary = emptySummary();
  isHalted = false;
  readonly #input: LookAheadInput;
  readonly #onEvent: (event: FileEvent) => void;
  /** Files on record that are not there. */
  readonly #left: Left[] = [];
  /** Keys that go over to another file. */
  readonly #adopted = new Set<string>();
  /** Sources that were gone through. */
  readonly #ends: End[] = [];

  constructor(input: LookAheadInput, onEvent: (event: FileEvent) => void) {
    this.#input = input;
    this.#onEvent = onEvent;
  }

  async take(ahead: Ahead): Promise<void> {
    switch (ahead.kind) {
      case 'halt':
        this.#halt(ahead.source, ahead.halt);
        break;
      case 'item':
        if ('adopts' in ahead.item && ahead.item.adopts)
          this.#adopted.add(nameOf({ target: ahead.target, key: ahead.item.key }));
        if (isPlannedSend(ahead.item)) await this.#send(ahead.item, ahead.source, ahead.target);
        else this.#note(ahead.item, ahead.source, ahead.target);
        break;
      case 'end':
        this.#ends.push(ahead);
        break;
    }
  }

  async #send(item: PlannedSend, source: Source, target: number): Promise<void> {
    const { path, key } = item;
    if (item.record === null) this.#input.claims.keep(target, key, source, path);
    if (item.kind === 'verify' && (await this.#hasRecordedContent(item, source, target))) {
      this.summary.unchanged += 1;
      return;
    }
    const place = { source: source.config.name, path, key };
    const unreadable = whyUnreadable(source, path);
    if (unreadable !== null) {
      this.summary.problems += 1;
      this.#onEvent({ kind: 'problem', ...place, reason: unreadable });
      return;
    }
    const isRenewal = item.reason === 'renewal-due';
    this.summary[isRenewal ? 'renewed' : 'uploaded'] += 1;
    this.summary.bytes += item.sizeBytes;
    const reason = item.kind === 'verify' ? 'changed' : item.reason;
    this.#onEvent({ kind: isRenewal ? 'renew' : 'upload', ...place, reason });
  }

  async #hasRecordedContent({ path, key }: PlannedSend, source: Source, target: number): Promise<boolean> {
    const recorded = this.#input.state.find({ target, key })?.sha256 ?? null;
    return (
      recorded !== null && (await compareContent(source, path, recorded, this.#input.now())).kind === 'same'
    );
  }

  #note(
    item: Exclude<(Ahead & { kind: 'item' })['item'], PlannedSend>,
    source: Source,
    target: number,
  ): void {
    const { summary } = this;
    const { state, config } = this.#input;
    const name = source.config.name;
    switch (item.kind) {
      case 'tick':
        break;
      case 'unchanged':
        summary.unchanged += 1;
        break;
      case 'hold': {
        const reason = `refused before: ${state.find({ target, key: item.key })?.failure ?? 'unknown'}`;
        summary.refused += 1;
        this.#onEvent({ kind: 'refuse', source: name, path: item.path, key: item.key, reason });
        break;
      }
      case 'refuse':
      case 'problem':
      case 'skip': {
        const { kind, path, key, reason } = item;
        summary[kind === 'refuse' ? 'refused' : kind === 'problem' ? 'problems' : 'skipped'] += 1;
        this.#onEvent({ kind, source: name, path, key, reason });
        break;
      }
      case 'pass-over':
        summary.skipped += 1;
        this.#onEvent({ kind: 'skip', source: name, path: item.path, key: null, reason: item.reason });
        break;
      case 'absent': {
        const { record, absence } = item;
        const id = { target, key: record.key };
        const stored = state.find(id) ?? { ...record, uploaded: false };
        switch (fateOf(stored, absence, config.removals.mode)) {
          case 'unknown':
          case 'forget':
          case 'none':
          case 'tombstone':
            break;
          case 'remove':
            this.#left.push({ id, source, path: record.path, goes: true });
            break;
          case 'keep':
            this.#left.push({ id, source, path: record.path, goes: false });
            break;
        }
        break;
      }
    }
  }

  /** Removes and keeps what was left behind, once it is known what went on under another name. */
  finish(): void {
    const left = this.#left.filter(({ id }) => !this.#adopted.has(nameOf(id)));
    this.summary.kept += left.filter(({ goes }) => !goes).length;
    for (const end of this.#ends)
      this.#remove(
        end,
        left.filter(({ goes, source }) => goes && source === end.source),
      );
  }

  #remove({ source, target, isComplete }: End, missing: readonly Left[]): void {
    const { state, config, now } = this.#input;
    const name = source.config.name;
    const recent = state.countRemovals(name, now() - REMOVAL_WINDOW_MS);
    const { present, removed } = state.countRecorded(target, name);
    const halt = guardRemovals(missing.length, recent, present + removed + recent, config.removals);
    if (!isComplete || halt !== null) {
      this.summary.kept += missing.length;
      if (halt !== null) this.#halt(name, halt);
      return;
    }
    this.summary.removed += missing.length;
    for (const { path, id } of missing)
      this.#onEvent({ kind: 'remove', source: name, path, key: id.key, reason: 'removed' });
  }

  #halt(source: string, halt: Halt): void {
    this.isHalted = true;
    this.summary.problems += 1;
    this.#onEvent({ kind: 'problem', source, path: '.', key: null, reason: `halted: ${halt.reason}` });
  }
}

function nameOf({ target, key }: RowId): string {
  return `${target} ${key}`;
}
