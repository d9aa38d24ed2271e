import { EXIT } from '../../domain/exit-code.ts';
import type { FileEvent, Summary } from '../../domain/report.ts';
import type { StyledLog } from '../../service/logger.ts';
import { retryWords } from '../../service/retry-words.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Refusal, Trigger } from '../../sync/daemon/daemon-observer.ts';
import type { Transferred } from '../../sync/pass/reporter.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import { eventLevel, eventWords } from '../../words/event.ts';
import { summaryWords } from '../../words/pass.ts';
import { placeOf } from '../../words/place.ts';
import { describeVerified } from '../../words/verified.ts';
import type { SyncObserver } from '../observer.ts';
import { Repetitions } from './repetitions.ts';

/** The platform refuses: what is said when it begins, and when it is over. */
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

/** So many differences of one comparison are logged; the rest are counted. */
const DIFFERENCES_LOGGED = 100;

/** Puts what happens in a daemon into a log: the one for people, or the one that the page shows. */
export class DaemonNews implements SyncObserver {
  readonly #log: StyledLog;
  readonly #credentialAdvice: () => string | null;
  readonly #repetitions = new Repetitions();
  #overdue = 0;
  /** Found by the comparison that is under way. */
  #differences = 0;
  /** Whether the last passes over some sources found these in sync. */
  readonly #wasInSync = new Map<string, boolean>();

  /** @param credentialAdvice - what to do when the platform refuses the credentials; `null`: that is said elsewhere. */
  constructor(log: StyledLog, credentialAdvice: () => string | null) {
    this.#log = log;
    this.#credentialAdvice = credentialAdvice;
  }

  event(event: FileEvent, transferred?: Transferred, isKnown = false): void {
    const level = this.#repetitions.isToldEvent(event, isKnown) ? 'debug' : eventLevel(event);
    this.#log.say(level, eventWords(event, transferred), { ...event, ...transferred });
  }

  warn(message: string): void {
    this.#log.warn(message);
  }

  retrying(path: string, reason: string, delayMs: number): void {
    const fields = { path, reason, delayMs: Math.round(delayMs) };
    this.#log.say('info', retryWords(path, reason, delayMs), fields);
  }

  passBegan(trigger: Trigger): void {
    this.#log.debug('pass begins', { trigger });
    if (trigger === 'start') this.#log.info('checking all files …');
  }

  passEnded(trigger: Trigger, sources: readonly string[], summary: Summary, exitCode: number): void {
    // A host all of whose own sources are halted has none of which there is anything to say.
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
    // Where daemons share a log, each has passes of its own.
    const rest = this.#wasInSync.size > 1 ? `${words.rest} (${sources.join(', ')})` : words.rest;
    this.#log.say(level, { ...words, rest }, { trigger });
  }

  eventsLost(source: string, reason: string): void {
    this.#log.info('rescanning everything', { source, reason });
  }

  watchLimited(source: string, message: string): void {
    this.#log.warn(message, { source });
  }

  renewalsOverdue(count: number): void {
    if (count > this.#overdue)
      this.#log.error('files will expire that could not be renewed in time', { files: count });
    else if (count === 0 && this.#overdue > 0) this.#log.info('all files are renewed again');
    this.#overdue = count;
  }

  refused(kind: Refusal, reason: string | null): void {
    const { began, over } = REFUSED[kind];
    this.#repetitions.refused(kind, reason);
    const advice = kind === 'credentials' ? this.#credentialAdvice() : null;
    if (reason === null) this.#log.info(over);
    else this.#log.error(`${began}${advice === null ? '' : `: ${advice}`}`, { reason });
  }

  differenceFound(difference: FileDifference): void {
    this.#differences += 1;
    if (this.#differences > DIFFERENCES_LOGGED) return;
    const { source, path, key, reason, detail } = difference;
    const rest = `${placeOf(source, path ?? key)} is not as it was sent: ${reason} (${detail})`;
    this.#log.say('warn', { style: null, head: '', rest }, { source, path, key, reason, detail });
  }

  verified(verified: Verified): void {
    this.#log[this.#differences > 0 ? 'warn' : 'info'](describeVerified(verified));
    this.#differences = 0;
  }
}
