import { accessSync, constants } from 'node:fs';
import { exitCodeOf } from '../../domain/exit-code.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import { emptySummary, type FileEvent, type Summary } from '../../domain/report.ts';
import type { Clock } from '../../domain/clock.ts';
import { compareContent } from '../../upload/compare-content.ts';
import { lookAhead, type Ahead, type LookAheadInput } from './look-ahead.ts';
import { isPlannedSend, type PlannedSend } from './plan-source.ts';
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
  plan.summary.durationMs = Math.round(clock.monotonic() - beganMs);
  const exitCode = exitCodeOf(plan.summary, {
    interrupted: false,
    credentials: false,
    halted: plan.isHalted,
  });
  return { summary: plan.summary, exitCode };
}

class DryRun {
  readonly summary: Summary = emptySummary();
  isHalted = false;
  readonly #input: LookAheadInput;
  readonly #onEvent: (event: FileEvent) => void;
  /** Paths of the current source that would be removed. */
  #missing: { readonly path: string; readonly key: string }[] = [];

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
        if (isPlannedSend(ahead.item)) await this.#send(ahead.item, ahead.source, ahead.target);
        else this.#note(ahead.item, ahead.source, ahead.target);
        break;
      case 'end':
        this.#remove(ahead);
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
    const unreadable = whyUnreadable(`${source.root}/${path}`);
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
    const name = source.config.name;
    switch (item.kind) {
      case 'tick':
        break;
      case 'unchanged':
        summary.unchanged += 1;
        break;
      case 'hold': {
        const reason = `refused before: ${this.#input.state.find({ target, key: item.key })?.failure ?? 'unknown'}`;
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
        const mayBeThere =
          record.state === 'sending' ||
          this.#input.state.find({ target, key: record.key })?.uploaded === true;
        const isRemoving = record.state === 'removing' && record.expiresAtMs !== null;
        if (
          this.#input.config.removals.mode === 'expire' &&
          absence === 'removed' &&
          mayBeThere &&
          !isRemoving
        ) {
          this.#missing.push({ path: record.path, key: record.key });
        } else if (absence !== null && mayBeThere && !isRemoving) {
          summary.kept += 1;
        }
        break;
      }
    }
  }

  #remove({ source, target, isComplete }: Ahead & { kind: 'end' }): void {
    const missing = this.#missing;
    this.#missing = [];
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
    for (const { path, key } of missing)
      this.#onEvent({ kind: 'remove', source: name, path, key, reason: 'removed' });
  }

  #halt(source: string, halt: Halt): void {
    this.isHalted = true;
    this.summary.problems += 1;
    this.#onEvent({ kind: 'problem', source, path: '.', key: null, reason: `halted: ${halt.reason}` });
  }
}

function whyUnreadable(path: string): string | null {
  try {
    accessSync(path, constants.R_OK);
    return null;
  } catch (error) {
    return `cannot be read: ${(error as NodeJS.ErrnoException).code ?? ''}`;
  }
}
