import {
  fairGrant,
  NO_SHARE,
  rateAt,
  roomBeside,
  type Grant,
  type HeldShare,
  type KnownHost,
  type ShareRow,
} from './share.ts';

/** The terms of a budget, the same for all hosts but the limit, of which the lowest counts. */
export interface BudgetTerms {
  /** Requests a second. */
  readonly limit: number;
  /** A grant is good for so long from the moment at which it was asked for, milliseconds. */
  readonly grantMs: number;
  /** The row of a host that stood still for so long is deleted, and its floor with it, milliseconds. */
  readonly expelMs: number;
}

/** What a host asks the table in one beat. */
export interface ShareRequest {
  /** One more with each request of this process: the table ignores one that arrives after a later one. */
  readonly beat: number;
  /** By the monotonic clock, milliseconds. */
  readonly sentAtMs: number;
  readonly limit: number;
  readonly wanted: number;
  readonly claim: Grant;
  /** Rows with these marks are those of silent hosts, … */
  readonly silentMarks: readonly string[];
  /** … and those with these are to be deleted. */
  readonly expelledMarks: readonly string[];
  /** The row of our own name with this mark is that of a process that has ended: it is taken over. `null`: none is. */
  readonly successorOf: string | null;
}

/** What the table answers. `replaced`: another process has the row of this host. */
export type ShareAnswer =
  | { readonly kind: 'granted'; readonly grant: Grant; readonly others: readonly ShareRow[] }
  | { readonly kind: 'replaced'; readonly mark: string; readonly others: readonly ShareRow[] };

/** Rows stand still a little longer than a grant is good for before they count as silent. */
const MARGIN_PART = 0.1;

/** A share that is wrong by less than this part is right until the next beat. */
const TOLERANCE_PART = 0.05;

/** A row of another host. */
interface SeenRow {
  readonly row: ShareRow;
  /** When its mark was seen first, by our monotonic clock. */
  readonly sinceMs: number;
  /** How long it has stood still while others could write theirs, as far as we can tell. */
  readonly idleMs: number;
}

/**
 * One host's side of a budget: what it may use, what it knows of the others, and what it asks for. Pure bookkeeping.
 *
 * The invariant: what the hosts use together is never more than the limit, whatever is lost or late. A host uses no more
 * than its row reserves: it lowers itself before it asks for less, raises itself only when it was told, and counts the
 * end of a grant from the moment that it asked. Another host takes a reservation for ended only when it saw the row
 * stand still for longer than that by its own clock, and the floor never while there is the row.
 */
export class ShareHolder {
  readonly #terms: BudgetTerms;
  readonly #others = new Map<string, SeenRow>();
  #held = NO_SHARE;
  #beat = 0;
  #hasHeard = false;
  #isJoined = false;
  /** The mark of our row before we had it: whoever starts knows that no other process of its host runs. */
  #predecessor: string | null = null;
  /** The mark of the process that has our row. */
  #rival: { readonly mark: string; readonly sinceMs: number } | null = null;
  #lastHeardMs = -Infinity;

  constructor(terms: BudgetTerms) {
    this.#terms = terms;
  }

  /** What this host may use. */
  get held(): HeldShare {
    return this.#held;
  }

  /** Whether another process has the row of this host: two have the same name, or this one was declared dead. */
  get isReplaced(): boolean {
    return this.#rival !== null;
  }

  /** The other hosts with a row, as they are known at a moment. */
  others(nowMs: number): KnownHost[] {
    return [...this.#others.values()].map(({ row, sinceMs }) => ({
      ...row,
      isSilent: nowMs - sinceMs > this.#silentAfterMs,
    }));
  }

  /** What to ask for now, by a host that could use `wanted` requests a second. What is claimed less than held is given up. */
  ask(wanted: number, nowMs: number): ShareRequest {
    const { limit, expelMs } = this.#terms;
    const others = this.others(nowMs);
    const wish = Math.min(wanted, limit);
    // Who knows nobody takes what is free, and asks again when it knows whose it is.
    const claim = this.#isJoined ? fairGrant({ limit, wanted: wish }, others) : { share: limit, floor: 0 };
    const { perSecond, untilMs, floorPerSecond } = this.#held;
    this.#held = {
      perSecond: Math.min(perSecond, claim.share),
      untilMs,
      floorPerSecond: Math.min(floorPerSecond, claim.floor),
    };
    this.#beat += 1;
    return {
      beat: this.#beat,
      sentAtMs: nowMs,
      limit,
      wanted: wish,
      claim,
      silentMarks: others.filter(({ isSilent }) => isSilent).map(({ mark }) => mark),
      expelledMarks: [...this.#others.values()]
        .filter(({ idleMs }) => idleMs > expelMs)
        .map(({ row }) => row.mark),
      successorOf: this.#predecessor ?? this.#endedRival(nowMs),
    };
  }

  /** Takes note of what the table answered. */
  answered(request: ShareRequest, answer: ShareAnswer, nowMs: number): void {
    // A later request may have claimed less.
    if (request.beat !== this.#beat) return;
    this.#noteOthers(answer.others, nowMs);
    switch (answer.kind) {
      case 'granted':
        this.#isJoined = true;
        this.#predecessor = null;
        this.#rival = null;
        this.#held = {
          perSecond: answer.grant.share,
          untilMs: request.sentAtMs + this.#terms.grantMs,
          floorPerSecond: answer.grant.floor,
        };
        break;
      case 'replaced':
        this.#predecessor = this.#hasHeard ? null : answer.mark;
        this.#isJoined = false;
        this.#held = NO_SHARE;
        if (this.#hasHeard && this.#rival?.mark !== answer.mark)
          this.#rival = { mark: answer.mark, sinceMs: nowMs };
        break;
    }
    this.#hasHeard = true;
  }

  /** Uses nothing any more. */
  giveUp(): void {
    this.#held = NO_SHARE;
  }

  /** Whether this host holds much more than its part: somebody waits for the rest. */
  hasTooMuch(wanted: number, nowMs: number): boolean {
    return this.#fairShare(wanted, nowMs) < rateAt(this.#held, nowMs) * (1 - TOLERANCE_PART);
  }

  /** Whether this host would be granted much more if it asked now, as far as it knows. */
  couldHaveMore(wanted: number, nowMs: number): boolean {
    if (!this.#isJoined) return this.#predecessor !== null;
    const room = roomBeside(this.#terms.limit, this.others(nowMs));
    const more = Math.min(this.#fairShare(wanted, nowMs), room);
    return more > rateAt(this.#held, nowMs) * (1 + TOLERANCE_PART);
  }

  #fairShare(wanted: number, nowMs: number): number {
    const { limit } = this.#terms;
    return fairGrant({ limit, wanted: Math.min(wanted, limit) }, this.others(nowMs)).share;
  }

  /** The mark of the process that has our row, where it has ended. */
  #endedRival(nowMs: number): string | null {
    return this.#rival !== null && nowMs - this.#rival.sinceMs > this.#silentAfterMs
      ? this.#rival.mark
      : null;
  }

  get #silentAfterMs(): number {
    return this.#terms.grantMs * (1 + MARGIN_PART);
  }

  #noteOthers(rows: readonly ShareRow[], nowMs: number): void {
    const hosts = new Set(rows.map(({ host }) => host));
    for (const host of this.#others.keys()) if (!hosts.has(host)) this.#others.delete(host);
    // While the database was away nobody could write.
    const countedMs = Math.min(nowMs - this.#lastHeardMs, this.#terms.grantMs);
    this.#lastHeardMs = nowMs;
    for (const row of rows) {
      const known = this.#others.get(row.host);
      const seen =
        known?.row.mark === row.mark
          ? { ...known, idleMs: known.idleMs + countedMs }
          : { row, sinceMs: nowMs, idleMs: 0 };
      this.#others.set(row.host, seen);
    }
  }
}
