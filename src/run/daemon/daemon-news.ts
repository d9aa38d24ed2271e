import type { FileEvent, Summary } from '../../domain/report.ts';
import { listener, type Refusal, type RunEvent, type Trigger } from '../../sync/events.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { type StyledLog, retryWords } from '../../service/logger.ts';
import { eventLevel, eventWords, haltWords } from '../../words/event.ts';
import { haltAsFileEvent } from '../../words/halt.ts';
import { summaryWords } from '../../words/pass.ts';
import { placeOf } from '../../words/place.ts';
import { describeVerified } from '../../words/verified.ts';

/** Messages for when the platform begins to refuse requests, and when it accepts them again. */
const REFUSED: Readonly<Record<Refusal, { readonly began: string; readonly over: string }>> = {
  credentials: {
    began: 'the platform refuses the credentials; files that need them wait and are retried',
    over: 'the platform accepts the credentials again',
  },
  quota: {
    began:
      'a quota is used up; files that need it wait and are retried: delete files on the platform, or raise the quota',
    over: 'the quota suffices again',
  },
};

type PassEnded = Extract<RunEvent, { kind: 'pass-ended' }>;

/** Maximum number of differences logged per comparison; the rest are counted. */
const DIFFERENCES_LOGGED = 100;

/** Writes the events of a daemon to a log: the one for people, or the one on the page. */
export class DaemonNews {
  readonly #log: StyledLog;
  readonly #credentialAdvice: () => string | null;
  readonly #repetitions = new Repetitions();
  #overdue = 0;
  /** Number of differences in the running comparison. */
  #differences = 0;
  /** True if the last pass over some sources found them in sync; by source names. */
  readonly #wasInSync = new Map<string, boolean>();

  /** @param credentialAdvice - what to do about refused credentials; `null`: that is shown elsewhere. */
  constructor(log: StyledLog, credentialAdvice: () => string | null) {
    this.#log = log;
    this.#credentialAdvice = credentialAdvice;
  }

  readonly listener = listener({
    file: ({ file, transferred, isKnown = false }) => {
      const level = this.#repetitions.isToldEvent(file, isKnown) ? 'debug' : eventLevel(file);
      this.#log.say(level, eventWords(file, transferred), { ...file, ...transferred });
    },
    halted: (event) => {
      const file = haltAsFileEvent(event);
      const level = this.#repetitions.isToldEvent(file, event.isKnown) ? 'debug' : 'error';
      this.#log.say(level, haltWords(event), file);
    },
    warning: ({ message }) => {
      this.#log.warn(message);
    },
    retrying: ({ path, reason, delayMs }) => {
      const fields = { path, reason, delayMs: Math.round(delayMs) };
      this.#log.say('info', retryWords(path, reason, delayMs), fields);
    },
    'pass-began': ({ trigger }) => {
      this.#log.debug('pass begins', { trigger });
      if (trigger === 'start') this.#log.info('checking all files …');
    },
    'pass-ended': (event) => {
      this.#passEnded(event);
    },
    'events-lost': ({ source, reason }) => {
      this.#log.info('rescanning everything', { source, reason });
    },
    'watch-limited': ({ source, message }) => {
      this.#log.warn(message, { source });
    },
    'renewals-overdue': ({ count }) => {
      if (count > this.#overdue)
        this.#log.error('files will expire that could not be renewed in time', { files: count });
      else if (count === 0 && this.#overdue > 0) this.#log.info('all files are renewed again');
      this.#overdue = count;
    },
    refused: ({ what, reason }) => {
      const { began, over } = REFUSED[what];
      this.#repetitions.refused(what, reason);
      const advice = what === 'credentials' ? this.#credentialAdvice() : null;
      if (reason === null) this.#log.info(over);
      else this.#log.error(`${began}${advice === null ? '' : `: ${advice}`}`, { reason });
    },
    difference: ({ difference }) => {
      this.#differences += 1;
      if (this.#differences > DIFFERENCES_LOGGED) return;
      const { source, path, key, reason, detail } = difference;
      const rest = `${placeOf(source, path ?? key)} is not as it was sent: ${reason} (${detail})`;
      this.#log.say('warn', { style: null, head: '', rest }, { source, path, key, reason, detail });
    },
    verified: ({ verified }) => {
      this.#log[this.#differences > 0 ? 'warn' : 'info'](describeVerified(verified));
      this.#differences = 0;
    },
  });

  #passEnded({ trigger, sources, summary, exitCode }: PassEnded): void {
    // A host whose own sources are all halted has nothing to report.
    if (sources.length === 0) return;
    const isInSync = exitCode === EXIT.ok;
    const { uploaded, renewed, removed } = summary;
    const name = sources.join('\0');
    const isNews =
      trigger !== 'rescan' || isInSync !== this.#wasInSync.get(name) || uploaded + renewed + removed > 0;
    this.#wasInSync.set(name, isInSync);
    const isTold = this.#repetitions.isToldPass(trigger, sources, summary);
    const level = isInSync ? (isNews ? 'info' : 'debug') : isTold ? 'debug' : 'warn';
    const words = summaryWords(summary, false, false);
    // Where daemons share a log, each has its own passes.
    const rest = this.#wasInSync.size > 1 ? `${words.rest} (${sources.join(', ')})` : words.rest;
    this.#log.say(level, { ...words, rest }, { trigger });
  }
}

/** Maximum number of logged file events that are remembered. */
const MOST_REMEMBERED = 10_000;

/**
 * Finds events that the log need not repeat. While the platform refuses credentials or room, the same files fail for
 * the same reason in every attempt, at first once a minute: only the beginning and the end of that are logged. A file
 * that stays as it is and a rescan with the same result are logged once, however often a directory is polled.
 */
export class Repetitions {
  readonly #refusals = new Map<Refusal, string>();
  /** Counts of the last pass, by source names. */
  readonly #lastCounts = new Map<string, string>();
  readonly #told = new Set<string>();

  /** Sets why the platform refuses a kind of request; `null`: it accepts it again. */
  refused(kind: Refusal, reason: string | null): void {
    if (reason === null) this.#refusals.delete(kind);
    else this.#refusals.set(kind, reason);
  }

  /**
   * Returns whether a file failed for a reason already logged for all files, or was logged with the same reason. Call
   * once per event.
   *
   * @param isKnown - an earlier pass met the same.
   */
  isToldEvent({ kind, source, path, reason, error }: FileEvent, isKnown: boolean): boolean {
    if (error !== undefined && [...this.#refusals.values()].includes(error)) return true;
    if (error === undefined && kind !== 'refuse' && kind !== 'problem') return false;
    const name = JSON.stringify([kind, source, path, reason, error]);
    const isTold = this.#told.has(name);
    if (this.#told.size >= MOST_REMEMBERED) this.#told.clear();
    this.#told.add(name);
    return isTold && isKnown;
  }

  /**
   * Returns whether a pass had the same result as the one before and need not be logged: it is a rescan, or something
   * is refused. Call once per pass.
   */
  isToldPass(trigger: Trigger, sources: readonly string[], summary: Summary): boolean {
    const name = sources.join('\0');
    const counts = JSON.stringify({ ...summary, durationMs: 0 });
    const isSame = counts === this.#lastCounts.get(name);
    this.#lastCounts.set(name, counts);
    return isSame && (trigger === 'rescan' || this.#refusals.size > 0);
  }
}
