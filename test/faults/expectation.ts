import type { Column } from './columns.ts';

/** What people are told of it: these words at least; `null`: nothing. */
export type Words = string | RegExp | null;

/** What becomes of a file when the same happens to it each time it is tried. */
export interface FileCell {
  readonly kind: 'file';
  /** Requests of the operation, or attempts where no request gets through, in one pass. `upload.attempts` is 2. */
  readonly tries: number;
  /** Of the pass, in the daemon as well. */
  readonly exitCode: 0 | 3 | 4;
  /** How it stands afterwards. */
  readonly stands: 'synced' | 'failed' | 'refused';
  /** Whether the platform has it after all. */
  readonly platformHas: 'it' | 'not-it';
  /** What waits as well: nothing, this bot, what needs more room, everything. */
  readonly pauses: 'nothing' | 'bot' | 'room' | 'all';
  /** How long requests were held back, of the time that the clock shows. */
  readonly waits: 'no-time' | '20s';
  /**
   * Once the fault is over, what brings it back in sync: `nothing` has to, the next pass, an edit; the daemon by itself,
   * and how long after the pass.
   */
  readonly mended: 'nothing' | 'next-pass' | 'edit' | 'in-1m' | 'in-15m' | 'in-1h';
  readonly says: Words;
}

/** How a command ends. */
export interface CallCell {
  readonly kind: 'call';
  readonly tries: number;
  readonly exitCode: 0 | 3 | 4;
  readonly waits: 'no-time' | '20s';
  /** Whether people are warned that it may have been carried out all the same. */
  readonly mayHaveBeenDone: boolean;
  readonly says: Words;
}

/** What becomes of a message to people. Files and the exit code have nothing to do with it. */
export interface ToldCell {
  readonly kind: 'told';
  readonly tries: number;
  readonly outcome: 'sent' | 'failed';
  readonly waits: 'no-time' | '20s';
  /** Once the fault is over: with the next pass, or by the daemon itself, and how long after. */
  readonly mended: 'nothing' | 'next-pass' | 'in-30s' | 'in-1h';
  readonly says: Words;
}

/** A combination that there is not, and why. */
export interface Impossible {
  readonly kind: 'impossible';
  readonly why: string;
}

/** What is expected of one fault in one place. */
export type Cell = FileCell | CallCell | ToldCell | Impossible;

/** What is expected of one fault everywhere. */
export type Row = Readonly<Record<Column, Cell>>;
