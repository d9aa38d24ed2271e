import { renderProblem, type ConfigProblem } from '../config/problem.ts';
import type { OptionalFailure } from '../domain/failure.ts';
import { escapeControls } from '../domain/escape.ts';

/**
 * What kind of thing went wrong:
 * - `usage`: a call, or an option of it, makes no sense.
 * - `configuration`: the configuration cannot be used, or a secret is not where it says.
 * - `state-file`: the state file cannot be opened, or is not botsync's, or a newer version wrote it.
 * - `state-file-failed`: the state file could not be written or read any more in the middle of the work.
 * - `busy`: another botsync is at work on the state file, or on the emulator's data, or other hosts of a cluster sync everything.
 * - `credentials`: the platform refused the credentials.
 * - `platform`: the platform could not be reached, or answered with a failure.
 * - `not-served`: the platform does not offer what this takes, or the configuration does not let it be asked.
 * - `cluster`: the database of a cluster could not be reached, or what it has cannot be read.
 * - `interrupted`: it was told to stop.
 */
export type SyncErrorCode =
  | 'usage'
  | 'configuration'
  | 'state-file'
  | 'state-file-failed'
  | 'busy'
  | 'credentials'
  | 'platform'
  | 'not-served'
  | 'cluster'
  | 'interrupted';

/** What an error is made of. */
export interface SyncErrorParts {
  /** See `SyncError.place`. */
  readonly place?: string | null;
  /** See `SyncError.reason`. */
  readonly reason: string;
  /** See `SyncError.fix`. */
  readonly fix?: string | null;
  /** See `SyncError.problems`. */
  readonly problems?: readonly ConfigProblem[];
  /** The whole in words; by default `place reason; fix`. */
  readonly message?: string;
}

/**
 * Something that people can fix. The message tells all of it: the place, the reason, and what to do. It never holds a
 * secret. Any other error that the library throws is a defect.
 */
export class SyncError extends Error {
  /** What kind of thing went wrong, for programs. */
  readonly code: SyncErrorCode;
  /** The file or field that it is about; `null`: there is none. */
  readonly place: string | null;
  /** What is wrong. */
  readonly reason: string;
  /** What to do about it; `null` where the reason says all there is to say. */
  readonly fix: string | null;
  /** All that is wrong with a configuration, in the order of the file; empty for anything else. */
  readonly problems: readonly ConfigProblem[];

  constructor(code: SyncErrorCode, parts: SyncErrorParts) {
    const { place = null, reason, fix = null, problems = [], message } = parts;
    super(message ?? `${place === null ? '' : `${place} `}${reason}${fix === null ? '' : `; ${fix}`}`);
    this.name = 'SyncError';
    this.code = code;
    this.place = place;
    this.reason = reason;
    this.fix = fix;
    this.problems = problems;
  }
}

/** The error for a configuration that cannot be used, or lacks something. There is at least one problem. */
export function configurationError(problems: readonly ConfigProblem[]): SyncError {
  const [first] = problems;
  const { reason, fix } = partsOf(first?.message ?? '');
  const field = first === undefined || first.field === '' ? '' : `: ${first.field}`;
  return new SyncError('configuration', {
    place: first === undefined ? null : `${first.file}${field}`,
    reason,
    fix,
    problems,
    message: problems.map(renderProblem).join('\n'),
  });
}

/** What a message says is wrong, and what it says to do: whatever stands behind its last semicolon. */
export function partsOf(message: string): { readonly reason: string; readonly fix: string | null } {
  const end = message.lastIndexOf('; ');
  return end === -1
    ? { reason: message, fix: null }
    : { reason: message.slice(0, end), fix: message.slice(end + 2) };
}

/** The reason of an error in one line; of several mistakes in a configuration the first. */
export function problemOf(error: unknown): string {
  const [first = '', ...others] = (error as Error).message.split('\n');
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

/**
 * The error that ends a command whose request failed: `credentials`, else `platform`.
 *
 * @param what - what could not be done, such as "the bots could not be listed".
 * @param effect - `reads`: nothing can have happened; `creates`: a request whose answer got lost may have been carried out.
 */
export function platformError(
  what: string,
  failure: OptionalFailure,
  effect: 'reads' | 'creates',
): SyncError {
  const code = failure.kind === 'credentials' ? 'credentials' : 'platform';
  const isUncertain = effect === 'creates' && failure.kind === 'transient' && failure.notCarriedOut !== true;
  const fix = isUncertain ? 'It may have been carried out; check before you retry.' : null;
  const reason = `${what}: ${escapeControls(failure.message)}`;
  const lines = [reason, fix, nextStep(failure)].filter((line) => line !== null);
  return new SyncError(code, { reason, fix: fix ?? nextStep(failure), message: lines.join('\n') });
}

/** What to do about a failure that the message does not explain by itself. */
function nextStep(failure: OptionalFailure): string | null {
  // Their messages name the fields.
  if (failure.kind === 'credentials') return 'Try: botsync doctor';
  if (failure.kind !== 'transient' || failure.notCarriedOut !== true || failure.answered === true)
    return null;
  const advice =
    failure.noConnection === undefined
      ? 'Check the address and the network.'
      : NO_CONNECTION_ADVICE[failure.noConnection];
  return `${advice} Try: botsync doctor`;
}

const NO_CONNECTION_ADVICE = {
  untrusted: 'If it is from an authority of your own, name that in NODE_EXTRA_CA_CERTS.',
  local: 'Is it running?',
  remote: 'Check the address and the network.',
} as const;
