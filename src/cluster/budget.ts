import type { Clock } from '../domain/clock.ts';
import { rateAt, type HeldShare } from '../domain/share.ts';
import { ShareHolder } from '../domain/share-holder.ts';
import { DatabaseError, type Sql } from './database.ts';
import { ShareTable, type ShareOwner } from './share-table.ts';

/** What a host's part of a budget is made with. */
export interface BudgetSettings extends ShareOwner {
  readonly schema: string;
  /** The limit for all hosts together, requests a second. */
  readonly requestsPerSecond: number;
  /** A grant is good for so long after it was asked for, milliseconds. */
  readonly grantMs: number;
  /** From one request for a share to the next, milliseconds: several times in `grantMs`. */
  readonly beatMs: number;
}

/** How it stands, for status and metrics. Rates are requests a second. */
export interface BudgetState {
  /** What this host may send now. */
  readonly share: number;
  readonly floor: number;
  /** The limit for all hosts in this host's configuration. */
  readonly limit: number;
  /** How many have a row, this one included, and how many of the others are silent. */
  readonly hosts: number;
  readonly silentHosts: number;
  /** Whether another process uses the name of this host, which sends nothing then. */
  readonly isReplaced: boolean;
  /** Why the last request for a share failed; `null`: it did not. */
  readonly trouble: string | null;
}

/** The row of a host that has not written it for so long is deleted, milliseconds. */
const EXPEL_MS = 86_400_000;

/** At most so many requests a beat: the first two find the row of a predecessor and take it. */
const REQUESTS_A_BEAT = 3;

/** How often a beat looks whether this host has become hungry. */
const LOOKS_A_BEAT = 10;

/** So many beats early a host asks that has become hungry. */
const SOONEST_PART = 1 / 4;

/** A pause is not told to all again that ends so little later than the last one, milliseconds. */
const SAME_PAUSE_MS = 100;

/** No pause is longer than a day. */
const LONGEST_PAUSE_MS = 86_400_000;

/**
 * This host's part of a budget of requests: asks for its share with every beat, tells who sends requests what the share is, and
 * passes on pauses that the platform asks any host for. Without the database the last grant goes on until it ends, then
 * the floor does.
 */
export class Budget {
  /** How many requests a second this host could use; the owner sets it. */
  wanted: () => number = () => 0;
  readonly #settings: BudgetSettings;
  readonly #table: ShareTable;
  readonly #clock: Clock;
  readonly #holder: ShareHolder;
  readonly #stop = new AbortController();
  readonly #shareListeners: ((share: HeldShare) => void)[] = [];
  readonly #pauseListeners: ((ms: number) => void)[] = [];
  #running: Promise<void> | null = null;
  #askedAtMs = -Infinity;
  #tellings = new Set<Promise<void>>();
  /** Until when all hosts pause that were told by us. */
  #toldUntilMs = -Infinity;
  #trouble: string | null = null;

  constructor(settings: BudgetSettings, sql: Sql, clock: Clock) {
    this.#settings = settings;
    this.#table = new ShareTable(sql, settings.schema);
    this.#clock = clock;
    this.#holder = new ShareHolder({
      limit: settings.requestsPerSecond,
      grantMs: settings.grantMs,
      expelMs: EXPEL_MS,
    });
  }

  /** Is told the share, now and whenever it changes: nothing at first. It says itself when it ends. */
  onShare(told: (share: HeldShare) => void): void {
    this.#shareListeners.push(told);
    told(this.#holder.held);
  }

  /** Is told for how long nothing is to be sent from now, milliseconds, where the platform said so to another host. */
  onPause(told: (ms: number) => void): void {
    this.#pauseListeners.push(told);
  }

  /** Begins to ask, until `close`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Gives the share back: this host sends nothing from now on. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all(this.#tellings);
    this.#holder.giveUp();
    this.#tellShare();
    await this.#withTrouble(() => this.#table.leave(this.#settings));
  }

  /** The platform asked this host for a pause: all hosts keep it. */
  notePause(ms: number): void {
    const untilMs = this.#clock.monotonic() + ms;
    if (untilMs < this.#toldUntilMs + SAME_PAUSE_MS || this.#isClosing()) return;
    this.#toldUntilMs = untilMs;
    const telling = this.#withTrouble(() => this.#table.pause(this.#settings, ms)).then(() => {
      this.#tellings.delete(telling);
    });
    this.#tellings.add(telling);
  }

  /** Somebody notified this on `PAUSE_CHANNEL`. */
  heardPause(payload: string): void {
    const { budget, host } = this.#settings;
    const told = parsePause(payload);
    if (told !== null && told.budget === budget && told.host !== host) this.#pause(told.ms);
  }

  /** How it stands. */
  get state(): BudgetState {
    const nowMs = this.#clock.monotonic();
    const { held } = this.#holder;
    const others = this.#holder.others(nowMs);
    return {
      share: rateAt(held, nowMs),
      floor: held.floorPerSecond,
      limit: this.#settings.requestsPerSecond,
      hosts: others.length + 1,
      silentHosts: others.filter(({ isSilent }) => isSilent).length,
      isReplaced: this.#holder.isReplaced,
      trouble: this.#trouble,
    };
  }

  #isClosing(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    const { beatMs } = this.#settings;
    while (!this.#isClosing()) {
      await this.#withTrouble(() => this.#beat());
      do await this.#clock.sleep(beatMs / LOOKS_A_BEAT, this.#stop.signal);
      while (!this.#isClosing() && !this.#isTimeToAsk());
    }
  }

  #isTimeToAsk(): boolean {
    const { beatMs } = this.#settings;
    const nowMs = this.#clock.monotonic();
    const sinceMs = nowMs - this.#askedAtMs;
    if (sinceMs >= beatMs) return true;
    return sinceMs >= beatMs * SOONEST_PART && this.#holder.couldHaveMore(this.wanted(), nowMs);
  }

  /** Asks, and asks again at once where the answer changes what there is to ask for. */
  async #beat(): Promise<void> {
    for (let asked = 0; asked < REQUESTS_A_BEAT && !this.#isClosing(); asked += 1) {
      await this.#ask();
      const nowMs = this.#clock.monotonic();
      const wanted = this.wanted();
      if (!this.#holder.hasTooMuch(wanted, nowMs) && !this.#holder.couldHaveMore(wanted, nowMs)) return;
    }
  }

  async #ask(): Promise<void> {
    this.#askedAtMs = this.#clock.monotonic();
    const request = this.#holder.ask(this.wanted(), this.#askedAtMs);
    // What is given up must not be used any more when the others may have it.
    this.#tellShare();
    const { answer, pausedMs } = await this.#table.carryOut(this.#settings, request);
    this.#holder.answered(request, answer, this.#clock.monotonic());
    this.#tellShare();
    if (pausedMs > 0) this.#pause(pausedMs);
  }

  #tellShare(): void {
    for (const told of this.#shareListeners) told(this.#holder.held);
  }

  #pause(ms: number): void {
    for (const told of this.#pauseListeners) told(Math.min(ms, LONGEST_PAUSE_MS));
  }

  /** What the database refuses or does not answer is tried again with the next beat. */
  async #withTrouble(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      this.#trouble = null;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      this.#trouble = error.message;
    }
  }
}

function parsePause(payload: string): { budget: unknown; host: unknown; ms: number } | null {
  try {
    const told = JSON.parse(payload) as { budget?: unknown; host?: unknown; ms?: unknown } | null;
    if (typeof told?.ms !== 'number' || !(told.ms > 0)) return null;
    return { budget: told.budget, host: told.host, ms: told.ms };
  } catch {
    return null;
  }
}
