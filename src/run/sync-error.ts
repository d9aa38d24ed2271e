import { renderProblem, type ConfigProblem } from '../config/problem.ts';
import type { OptionalFailure } from '../domain/failure.ts';
import { escapeControls } from '../domain/escape.ts';

/**
 * The kind of an error:
 * - `usage`: a call or one of its options makes no sense.
 * - `configuration`: the configuration cannot be used, or a secret is not where it says.
 * - `state-file`: the state file cannot be opened, is not botsync's, or was written by a newer version.
 * - `state-file-failed`: the state file could not be written or read any more during the work.
 * - `busy`: another botsync works on the state file or on the emulator's data, or other hosts of a cluster sync
 *   everything.
 * - `credentials`: the platform refused the credentials.
 * - `platform`: the platform was unreachable, or answered with a failure.
 * - `not-served`: the platform does not offer what is needed, or the configuration does not permit asking for it.
 * - `cluster`: the database of a cluster was unreachable, or its data cannot be read.
 * - `interrupted`: the run was stopped.
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

/** The parts of a `SyncError`. */
export interface SyncErrorParts {
  /** See `SyncError.place`. */
  readonly place?: string | null;
  /** See `SyncError.reason`. */
  readonly reason: string;
  /** See `SyncError.fix`. */
  readonly fix?: string | null;
  /** See `SyncError.problems`. */
  readonly problems?: readonly ConfigProblem[];
  /** The complete message; default: `place reason; fix`. */
  readonly message?: string;
}

/**
 * An error that people can fix. The message contains the place, the reason and the fix, and never a secret. Any other
 * error that the library throws is a defect.
 */
export class SyncError extends Error {
  /** The kind of the error, for programs. */
  readonly code: SyncErrorCode;
  /** The file or field that the error is about; `null`: there is none. */
  readonly place: string | null;
  /** The reason, without the place. */
  readonly reason: string;
  /** The fix; `null` if the reason says everything. */
  readonly fix: string | null;
  /** All problems of a configuration, in the order of the file; empty for other errors. */
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

/** Creates the error for an unusable configuration. `problems` must not be empty. */
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

/** Splits a message into the reason and, after its last semicolon, the fix. */
export function partsOf(message: string): { readonly reason: string; readonly fix: string | null } {
  const end = message.lastIndexOf('; ');
  return end === -1
    ? { reason: message, fix: null }
    : { reason: message.slice(0, end), fix: message.slice(end + 2) };
}

/** Returns the reason of an error in one line; of several problems of a configuration, the first and their number. */
export function problemOf(error: unknown): string {
  const [first = '', ...others] = (error as Error).message.split('\n');
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

/**
 * Creates the error that ends a command whose request failed, with code `credentials` or `platform`.
 *
 * @param what - what could not be done, such as "the bots could not be listed".
 * @param effect - `reads`: nothing can have happened; `creates`: a request whose answer was lost may have been carried
 * out.
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

/** Returns what to do about a failure whose message does not say that. */
function nextStep(failure: OptionalFailure): string | null {
  // The messages of these failures name the fields to check.
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
