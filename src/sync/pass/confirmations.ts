import { backoffMs, type Backoff } from '../../domain/backoff.ts';
import type { Clock } from '../../domain/clock.ts';
import {
  GONE,
  isOverdueInLists,
  LONGEST_ASK_MS,
  NOT_LISTED,
  wordOf,
  type Word,
} from '../../domain/confirmation.ts';
import type { OptionalFailure } from '../../domain/failure.ts';
import { MOST_IDS, type CatalogFile } from '../../domain/file-catalog.ts';
import { realTimer } from '../../service/system-clock.ts';
import type { Unconfirmed } from '../../state/remote.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import { noteWord, sendingOf, type WordPorts } from './note-word.ts';
import { setMark, type MarkPorts } from './set-mark.ts';

/** A batch waits no longer than this to be filled, milliseconds. */
const BATCH_WAIT_MS = 1000;

/** The same while somebody waits: nothing comes any more, and little is gained by it. */
const LAST_BATCH_WAIT_MS = 250;

/** After failures of the platform it is asked again after such delays. */
const AFTER_FAILURES: Backoff = { firstMs: 1000, longestMs: 60_000 };

/** While nothing may be asked it is looked so often whether it may, milliseconds. */
const OBSTACLE_MS = 2000;

/** Nobody rests longer than this, milliseconds: the wall clock, by which files are due, may jump. */
const LONGEST_REST_MS = 60_000;

/** While somebody waits, files are asked about no more rarely than this, milliseconds. */
const LONGEST_ASK_WHILE_WAITING_MS = 10_000;

/** What confirmations need of the rest of sync. */
export interface ConfirmationPorts extends WordPorts, MarkPorts {
  readonly clock: Clock;
  readonly catalog: ServedCatalog;
  /** Where the files of the configuration are, each place once. */
  readonly bots: readonly BotAtTarget[];
  /** Whether a bot is not to be asked just now: the platform is unreachable, or refuses whatever is for it. */
  readonly isBarred: (botId: string) => boolean;
  /** No new question once it aborts, and none is waited for. */
  readonly stop: AbortSignal;
}

/** How asking went: `failure` when the platform could not be asked. */
type Asked = 'answered' | 'failure';

/**
 * Asks the platform the status of the files that were sent, in batches and beside all else, until it has said so for
 * good. What is to be asked stands in the state file: whatever happens to a question, it is asked again.
 */
export class Confirmations {
  readonly #ports: ConfirmationPorts;
  /** See `StateReader.changes`. */
  #counted: { readonly changes: number; readonly unconfirmed: number } | null = null;
  /** What wakes those who rest, with the moment when they wake by themselves (monotonic milliseconds). */
  readonly #resting = new Map<() => void, number>();
  /** Ends all of it. */
  readonly #end = new AbortController();
  /** Until when somebody waits, monotonic milliseconds; `null`: it goes on until the stop. */
  #finishAtMs: number | null = null;
  #longestAskMs = Infinity;

  constructor(ports: ConfirmationPorts) {
    this.#ports = ports;
  }

  /** Where the files of the configuration are, each place once. */
  get bots(): readonly BotAtTarget[] {
    return this.#ports.bots;
  }

  /** How many files wait for the platform's word. They are counted again only when something was written since. */
  get unconfirmed(): number {
    const { state, bots } = this.#ports;
    const changes = state.changes();
    if (this.#counted?.changes !== changes) {
      const unconfirmed = bots.reduce((sum, { target }) => sum + state.remote.countUnconfirmed(target), 0);
      this.#counted = { changes, unconfirmed };
    }
    return this.#counted.unconfirmed;
  }

  /** Whether anything is left to be asked, or a content to be marked. */
  get isAnythingLeft(): boolean {
    const { state, bots } = this.#ports;
    return bots.some(({ target }) => state.remote.askTimes(target, 1).length > 0);
  }

  /** A file was sent, and is to be asked about in a second. */
  noteSent(): void {
    const soonMs = this.#ports.clock.monotonic() + 2 * BATCH_WAIT_MS;
    for (const [wake, wakesAtMs] of this.#resting) if (wakesAtMs > soonMs) wake();
  }

  /** Asks about all files now, and often: somebody is to wait for it. */
  hurry(): void {
    const { state, bots, clock } = this.#ports;
    for (const { target } of bots) state.remote.askBy(target, clock.now());
    this.#longestAskMs = LONGEST_ASK_WHILE_WAITING_MS;
  }

  /** Lets `run` end when there is nothing left to ask, or so much later at the latest, milliseconds. */
  finishWithin(waitMs: number): void {
    const end = (): void => {
      this.#end.abort();
    };
    this.#finishAtMs = this.#ports.clock.monotonic() + waitMs;
    if (waitMs === 0) end();
    // An answer that does not come is not waited for any longer, whatever the clock is.
    else realTimer.after(waitMs, end);
    for (const wake of this.#resting.keys()) wake();
  }

  /** Asks until the stop, or as long as `finishWithin` says. Throws `StateFileError`. */
  async run(): Promise<void> {
    const { bots, stop } = this.#ports;
    const end = (): void => {
      this.#end.abort();
    };
    stop.addEventListener('abort', end);
    try {
      if (stop.aborted) return;
      await Promise.all(bots.map((bot) => this.#follow(bot)));
    } finally {
      end();
      stop.removeEventListener('abort', end);
    }
  }

  /** Asks for one bot, one question after the other. */
  async #follow(bot: BotAtTarget): Promise<void> {
    const { signal } = this.#end;
    let failures = 0;
    while (!signal.aborted) {
      const waitMs = this.#untilNextBatch(bot);
      if (waitMs > 0) {
        if (this.#isTooLong(waitMs)) return;
        await this.#rest(waitMs);
        continue;
      }
      const asked = await this.#askBatch(bot);
      failures = asked === 'failure' ? failures + 1 : 0;
      if (failures > 0) await this.#rest(backoffMs(AFTER_FAILURES, failures));
    }
  }

  /** Milliseconds until the next files are to be asked about, together; `Infinity`: there are none, or none may be. */
  #untilNextBatch({ target, botId }: BotAtTarget): number {
    const { state, clock, catalog, isBarred } = this.#ports;
    if (isBarred(botId) || !catalog.serves(target, 'list')) return this.#isFinishing ? Infinity : OBSTACLE_MS;
    const times = state.remote.askTimes(target, MOST_IDS);
    const [firstMs] = times;
    if (firstMs === undefined) return Infinity;
    // Our clock was set back since.
    if (firstMs > clock.now() + LONGEST_ASK_MS) state.remote.askBy(target, clock.now());
    // What is sent from now on comes behind those.
    const fullAtMs = times[MOST_IDS - 1] ?? Infinity;
    const fillMs = this.#isFinishing ? LAST_BATCH_WAIT_MS : BATCH_WAIT_MS;
    return Math.max(0, Math.min(firstMs + fillMs, fullAtMs) - clock.now());
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

  async #askBatch(bot: BotAtTarget): Promise<Asked> {
    const { state, clock } = this.#ports;
    const due = state.remote.due(bot.target, clock.now(), MOST_IDS);
    const open = due.filter(({ verdict }) => verdict === null);
    if (open.length > 0 && (await this.#askAbout(open, bot)) === 'failure') return 'failure';
    for (const file of due) {
      if (file.verdict === null) continue;
      if (this.#end.signal.aborted) return 'answered';
      if ((await setMark(file, bot, this.#ports, this.#end.signal)) === 'failure') return 'failure';
    }
    return 'answered';
  }

  async #askAbout(files: readonly Unconfirmed[], bot: BotAtTarget): Promise<Asked> {
    const { catalog, clock } = this.#ports;
    const ids = files.map(({ remoteId }) => remoteId);
    const listed = await catalog.list(bot, { kind: 'ids', ids }, this.#end.signal);
    const isRefused = listed.kind === 'failed' && listed.failure.kind === 'refused';
    if (listed.kind === 'failed' && !isRefused) return this.#failedBy(listed.failure);
    const found = new Map(listed.kind === 'ok' ? listed.value.files.map((file) => [file.id, file]) : []);
    for (const file of files) {
      const answer = found.get(file.remoteId);
      if (answer !== undefined) this.#hear(this.#wordOf(answer, file), file, bot);
      else if (isRefused || isOverdueInLists(file, clock.now())) {
        if ((await this.#askForOne(file, bot)) === 'failure') return 'failure';
      } else this.#hear(NOT_LISTED, file, bot);
    }
    return 'answered';
  }

  /** Asks for a file by itself: a list does not show it. */
  async #askForOne(file: Unconfirmed, bot: BotAtTarget): Promise<Asked> {
    const { catalog, state, platformNow } = this.#ports;
    const got = await catalog.get(bot, file.remoteId, this.#end.signal);
    if (got.kind === 'ok') this.#hear(this.#wordOf(got.value, file), file, bot);
    else if (got.failure.kind === 'not-found') {
      const { expiresAtMs = null } = state.find({ target: bot.target, key: file.key }) ?? {};
      if (expiresAtMs === null || expiresAtMs > platformNow()) this.#hear(GONE, file, bot);
      // It was let expire.
      else state.remote.stopAsking(sendingOf(file, bot));
    } else if (got.failure.kind === 'not-served' || got.failure.kind === 'refused')
      this.#hear(NOT_LISTED, file, bot);
    else return this.#failedBy(got.failure);
    return 'answered';
  }

  #wordOf(answer: CatalogFile, file: Unconfirmed): Word {
    const told = this.#ports.state.remote.toldSettings(file.settingsDigest);
    return wordOf(answer, file, told?.index ?? null);
  }

  #hear(word: Word, file: Unconfirmed, bot: BotAtTarget): void {
    noteWord(word, file, bot, { ...this.#ports, longestAskMs: this.#longestAskMs });
  }

  /** What is not served any more is found out by looking; all else may pass. */
  #failedBy({ kind }: OptionalFailure): Asked {
    return kind === 'not-served' || this.#end.signal.aborted ? 'answered' : 'failure';
  }
}
