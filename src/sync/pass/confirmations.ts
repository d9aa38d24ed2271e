import { backoffMs, type Backoff } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import { isOverdueInLists, LONGEST_ASK_MS } from '../../domain/confirmation.ts';
import type { OptionalFailure } from '../../domain/failure.ts';
import { MOST_IDS, type CatalogFile } from '../../domain/file-catalog.ts';
import { GONE, NOT_LISTED, readStatus, type PlatformStatus } from '../../domain/platform-status.ts';
import { realTimer } from '../../service/system-clock.ts';
import type { SentRecord } from '../../domain/record.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import { noteStatus, reportFailure, type StatusPorts, type LostFile, type SendAgain } from './note-status.ts';
import { setMark, type MarkPorts } from './set-mark.ts';

/** The longest wait for a batch to fill, milliseconds. */
const BATCH_WAIT_MS = 1000;

/** The same while a caller waits for the end: hardly any more files come then. */
const LAST_BATCH_WAIT_MS = 250;

/** Delays after failures of the platform. */
const AFTER_FAILURES: Backoff = { firstMs: 1000, longestMs: 60_000 };

/** While asking is not possible, this is checked so often, milliseconds. */
const OBSTACLE_MS = 2000;

/** The longest rest, milliseconds: the wall clock, which says when files are due, may jump. */
const LONGEST_REST_MS = 60_000;

/** While a caller waits, the longest delay between questions about a file, milliseconds. */
const LONGEST_ASK_WHILE_WAITING_MS = 10_000;

export interface ConfirmationPorts extends StatusPorts, MarkPorts {
  readonly clock: Clock;
  readonly catalog: ServedCatalog;
  /** The bots of the configuration, each target once. */
  readonly bots: readonly BotAtTarget[];
  /** Returns whether a bot must not be asked now: the platform is unreachable, or refuses its requests. */
  readonly isBarred: (botId: string) => boolean;
  /** Ends questions, also those in progress, once it aborts. */
  readonly stop: AbortSignal;
}

/**
 * Asks the platform for the status of sent files, in batches, until it is final. The state file records what to ask, so
 * an unanswered question is repeated.
 */
export class Confirmations {
  readonly #ports: ConfirmationPorts;
  /** See `StateReader.changes`. */
  #counted: { readonly changes: number; readonly unconfirmed: number } | null = null;
  /** Wakes each resting loop; the value is when it wakes anyway (monotonic milliseconds). */
  readonly #resting = new Map<() => void, number>();
  readonly #end = new AbortController();
  readonly #abort = (): void => {
    this.#end.abort();
  };
  /** Until when a caller waits, monotonic milliseconds; `null`: runs until the stop. */
  #finishAtMs: number | null = null;
  #longestAskMs = Infinity;
  /** Files that the platform loses are resent before the run ends. */
  #sendsAgain = false;
  /** Files to resend before the run ends. */
  #lost: LostFile[] = [];
  #sendAgain: SendAgain | null = null;

  constructor(ports: ConfirmationPorts) {
    this.#ports = ports;
  }

  /** The bots of the configuration, each target once. */
  get bots(): readonly BotAtTarget[] {
    return this.#ports.bots;
  }

  /** The number of files whose status is not final. Counted again only after the state file changed. */
  get unconfirmed(): number {
    const { state, bots } = this.#ports;
    const changes = state.changes();
    if (this.#counted?.changes !== changes) {
      const unconfirmed = bots.reduce((sum, { target }) => sum + state.countUnconfirmed(target), 0);
      this.#counted = { changes, unconfirmed };
    }
    return this.#counted.unconfirmed;
  }

  /** The number of lost files to resend before the run ends. */
  get lost(): number {
    return this.#lost.length;
  }

  /** Files remain to be asked about, resent or marked. */
  get isAnythingLeft(): boolean {
    const { state, bots } = this.#ports;
    return this.lost > 0 || bots.some(({ target }) => state.askTimes(target, 1).length > 0);
  }

  /** Notes that a file was sent, which is asked about a second later. */
  noteSent(): void {
    const soonMs = this.#ports.clock.monotonic() + 2 * BATCH_WAIT_MS;
    for (const [wake, wakesAtMs] of this.#resting) if (wakesAtMs > soonMs) wake();
  }

  /**
   * Asks about all files now and often, because a caller will wait. `sendsAgain`: the caller also waits for lost files
   * to be resent.
   */
  hurry(sendsAgain: boolean): void {
    const { state, bots, clock } = this.#ports;
    for (const { target } of bots) state.remote.askBy(target, clock.now());
    this.#longestAskMs = LONGEST_ASK_WHILE_WAITING_MS;
    this.#sendsAgain = sendsAgain;
  }

  /**
   * Lets `run` end when nothing is left to ask or resend, and after `waitMs` milliseconds at the latest. Resends in
   * progress are completed.
   */
  finishWithin(waitMs: number, sendAgain: SendAgain | null): void {
    this.#sendAgain = sendAgain;
    this.#finishAtMs = this.#ports.clock.monotonic() + waitMs;
    if (waitMs === 0) this.#abort();
    // Real time: a missing answer must not be awaited longer, whatever clock is used.
    else realTimer.after(waitMs, this.#abort);
    for (const wake of this.#resting.keys()) wake();
  }

  /**
   * Asks until the stop, or as long as `finishWithin` says.
   *
   * @throws {StateFileError}
   */
  async run(): Promise<void> {
    const { bots, stop } = this.#ports;
    stop.addEventListener('abort', this.#abort);
    try {
      if (stop.aborted) return;
      await Promise.all(bots.map((bot) => this.#follow(bot)));
      for (const lost of this.#lost) this.#giveUp(lost);
    } finally {
      this.#abort();
      stop.removeEventListener('abort', this.#abort);
    }
  }

  /** Asks one bot, one question at a time. */
  async #follow(bot: BotAtTarget): Promise<void> {
    const { signal } = this.#end;
    let failures = 0;
    while (!signal.aborted) {
      const waitMs = Math.min(this.#untilNextBatch(bot), this.#untilNextResend(bot));
      if (waitMs > 0) {
        if (this.#isTooLong(waitMs)) return;
        await this.#rest(waitMs);
        continue;
      }
      await this.#sendLost(bot);
      const failure = await this.#askBatch(bot);
      failures = failure === null ? 0 : failures + 1;
      if (failure !== null && failures > 1 && this.#isVain(failure, bot)) return;
      if (failures > 0) await this.#rest(backoffMs(AFTER_FAILURES, failures));
    }
  }

  /**
   * Returns the time until the next batch is due, milliseconds; `Infinity`: there is none, or asking is not possible.
   */
  #untilNextBatch({ target, botId }: BotAtTarget): number {
    const { state, clock, catalog, isBarred } = this.#ports;
    if (isBarred(botId) || !catalog.serves(target, 'list')) return this.#isFinishing ? Infinity : OBSTACLE_MS;
    const times = state.askTimes(target, MOST_IDS);
    const [firstMs] = times;
    if (firstMs === undefined) return Infinity;
    // Our clock was set back.
    if (firstMs > clock.now() + LONGEST_ASK_MS) state.remote.askBy(target, clock.now());
    // Files that are sent from now on come after these.
    const fullAtMs = times[MOST_IDS - 1] ?? Infinity;
    const fillMs = this.#isFinishing ? LAST_BATCH_WAIT_MS : BATCH_WAIT_MS;
    return Math.max(0, Math.min(firstMs + fillMs, fullAtMs) - clock.now());
  }

  /** Returns the time until the next lost file is resent, milliseconds; `Infinity`: there is none. */
  #untilNextResend({ target }: BotAtTarget): number {
    if (this.#sendAgain === null) return Infinity;
    const times = this.#lost.filter(({ bot }) => bot.target === target).map((one) => one.resendAtMs);
    return Math.max(0, Math.min(...times) - this.#ports.clock.now());
  }

  async #sendLost({ target }: BotAtTarget): Promise<void> {
    const { state, clock } = this.#ports;
    if (this.#sendAgain === null) return;
    const nowMs = clock.now();
    const due = this.#lost.filter(({ bot, resendAtMs }) => bot.target === target && resendAtMs <= nowMs);
    if (due.length === 0) return;
    this.#lost = this.#lost.filter((one) => !due.includes(one));
    for (const { file } of due) state.remote.takeResend(file);
    for (const left of await this.#sendAgain(due)) this.#giveUp(left);
  }

  #giveUp({ status, file, reason }: LostFile): void {
    reportFailure(status, file, reason, this.#ports);
  }

  get #isFinishing(): boolean {
    return this.#finishAtMs !== null;
  }

  #isTooLong(waitMs: number): boolean {
    return this.#finishAtMs !== null && this.#ports.clock.monotonic() + waitMs > this.#finishAtMs;
  }

  async #rest(ms: number): Promise<void> {
    const { clock } = this.#ports;
    const { signal } = this.#end;
    const resting = new AbortController();
    const wake = (): void => {
      resting.abort();
    };
    const restMs = Math.min(ms, LONGEST_REST_MS);
    this.#resting.set(wake, clock.monotonic() + restMs);
    signal.addEventListener('abort', wake);
    if (!signal.aborted) await clock.sleep(restMs, resting.signal);
    signal.removeEventListener('abort', wake);
    this.#resting.delete(wake);
  }

  /** Returns whether to stop waiting for this bot: it answers, but unusably. */
  #isVain(failure: OptionalFailure, { botId }: BotAtTarget): boolean {
    if (!this.#isFinishing || failure.kind !== 'transient' || failure.unusable !== true) return false;
    this.#ports.emit({
      kind: 'warning',
      message: `bot ${botId}: it does not say whether it has the files that were sent; the next pass asks again: ${failure.message}`,
    });
    return true;
  }

  /** Returns why the platform could not be asked; `null` if it could. */
  async #askBatch(bot: BotAtTarget): Promise<OptionalFailure | null> {
    const { state, clock } = this.#ports;
    const due = state.confirmationsDue(bot.target, clock.now(), MOST_IDS);
    const open = due.filter(({ verdict }) => verdict === null);
    const failure = open.length > 0 ? await this.#askAbout(open, bot) : null;
    if (failure !== null) return failure;
    for (const file of due) {
      if (file.verdict === null) continue;
      if (this.#end.signal.aborted) return null;
      const unmarked = await setMark(file, bot, this.#ports, this.#end.signal);
      if (unmarked !== null) return unmarked;
    }
    return null;
  }

  async #askAbout(files: readonly SentRecord[], bot: BotAtTarget): Promise<OptionalFailure | null> {
    const { catalog, clock } = this.#ports;
    const ids = files.map(({ remoteId }) => remoteId);
    const listed = await catalog.list(bot, { kind: 'ids', ids }, this.#end.signal);
    const isRefused = listed.kind === 'failed' && listed.failure.kind === 'refused';
    if (listed.kind === 'failed' && !isRefused) return this.#failedBy(listed.failure);
    const found = new Map(listed.kind === 'ok' ? listed.value.files.map((file) => [file.id, file]) : []);
    for (const file of files) {
      const answer = found.get(file.remoteId);
      if (answer !== undefined) this.#hear(this.#statusOf(answer, file), file, bot);
      else if (isRefused || isOverdueInLists(file, clock.now())) {
        const failure = await this.#askForOne(file, bot);
        if (failure !== null) return failure;
      } else this.#hear(NOT_LISTED, file, bot);
    }
    return null;
  }

  /** Asks about a single file that a list does not contain. */
  async #askForOne(file: SentRecord, bot: BotAtTarget): Promise<OptionalFailure | null> {
    const { catalog, state, platformNow } = this.#ports;
    const got = await catalog.get(bot, file.remoteId, this.#end.signal);
    if (got.kind === 'ok') this.#hear(this.#statusOf(got.value, file), file, bot);
    else if (got.failure.kind === 'not-found') {
      const { expiresAtMs = null } = state.find(file) ?? {};
      if (expiresAtMs === null || expiresAtMs > platformNow()) this.#hear(GONE, file, bot);
      // It has expired.
      else state.remote.stopAsking(file);
    } else if (got.failure.kind === 'not-served' || got.failure.kind === 'refused')
      this.#hear(NOT_LISTED, file, bot);
    else return this.#failedBy(got.failure);
    return null;
  }

  #statusOf(answer: CatalogFile, file: SentRecord): PlatformStatus {
    const told = this.#ports.state.remote.toldSettings(file.settingsDigest);
    return readStatus(answer, file, told?.index ?? null);
  }

  #hear(status: PlatformStatus, file: SentRecord, bot: BotAtTarget): void {
    const willResend = (lost: LostFile): boolean => {
      const isInTime = this.#sendsAgain && !this.#isTooLong(lost.resendAtMs - this.#ports.clock.now());
      if (isInTime) this.#lost.push(lost);
      return isInTime;
    };
    noteStatus(status, file, bot, { ...this.#ports, longestAskMs: this.#longestAskMs, willResend });
  }

  /** Ignores operations that are not served, which the catalog remembers; other failures may be temporary. */
  #failedBy(failure: OptionalFailure): OptionalFailure | null {
    return failure.kind === 'not-served' || this.#end.signal.aborted ? null : failure;
  }
}
