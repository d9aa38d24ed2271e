import type { ServerResponse } from 'node:http';
import type { Clock } from '../domain/clock.ts';
import { Bell } from './bell.ts';
import type { PageSource } from './page-source.ts';

const MOST_STREAMS = 100;

/** Parts are rendered at most this often, in milliseconds. */
const ROUND_MS = 1000;

/** Rendering may take this fraction of the time, unless updates then came later than this, in milliseconds. */
const ROUND_PART = 0.05;
const LONGEST_ROUND_MS = 10_000;

/** Parts are rendered again after this time even without a change, since they contain ages, in milliseconds. */
const REFRESH_MS = 60_000;

/** The interval of clock events, so that neither the page nor a proxy takes the stream for dead, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** A browser reconnects after this time, in milliseconds. */
const RETRY_MS = 3000;

/** Parts for one query and permission, shared by streams. */
interface View {
  readonly query: URLSearchParams;
  readonly mayAct: boolean;
  /** `null` before the first rendering. */
  parts: ReadonlyMap<string, string> | null;
  madeAtMs: number;
  /** The value of `#news` at the last rendering. */
  news: number;
  hasFailed: boolean;
}

/** An open page. */
interface Stream {
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** The query, sorted. */
  readonly asked: string;
  readonly mayAct: () => boolean;
  /** The parts as last sent. */
  shown: ReadonlyMap<string, string> | null;
  /** Messages that the system has not taken yet, because the client reads too slowly. */
  unread: number;
  /** There were unread messages at the last heartbeat. */
  wasBehind: boolean;
}

/**
 * Keeps open pages up to date, by server-sent events. Without an open page it does nothing and does not subscribe
 * to changes. Equal queries are rendered once.
 */
export class PageStreams {
  readonly #page: Pick<PageSource, 'parts' | 'subscribe'>;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #streams = new Set<Stream>();
  readonly #views = new Map<string, View>();
  readonly #bell = new Bell();
  /** Incremented once for all changes between two rounds. */
  #news = 0;
  #hasChanged = false;
  #nextRoundMs = -Infinity;
  #nextHeartbeatMs = 0;
  #running: AbortController | null = null;

  /** @param failed - called when parts cannot be rendered. */
  constructor(page: Pick<PageSource, 'parts' | 'subscribe'>, clock: Clock, failed: (error: unknown) => void) {
    this.#page = page;
    this.#clock = clock;
    this.#failed = failed;
  }

  get hasRoom(): boolean {
    return this.#streams.size < MOST_STREAMS;
  }

  /**
   * Keeps the page of a response up to date until either side ends it. The headers must be written already.
   *
   * @param mayAct - returns whether the visitor may act now.
   */
  add(response: ServerResponse, query: URLSearchParams, mayAct: () => boolean): void {
    const sorted = new URLSearchParams(query);
    sorted.sort();
    const state = { shown: null, unread: 0, wasBehind: false };
    const stream: Stream = { response, query, asked: sorted.toString(), mayAct, ...state };
    this.#streams.add(stream);
    response.once('close', () => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#running?.abort();
    });
    // A client that disconnects is no failure.
    response.on('error', () => undefined);
    this.#write(stream, `retry: ${RETRY_MS}\n\n`);
    if (this.#running === null) void this.#run();
    else this.#bell.ring();
  }

  /** Updates all pages after a change of permissions. */
  accessChanged(): void {
    this.#bell.ring();
  }

  close(): void {
    for (const { response } of this.#streams) response.destroy();
    this.#running?.abort();
  }

  async #run(): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    const unsubscribe = this.#page.subscribe(() => {
      if (this.#hasChanged) return;
      this.#hasChanged = true;
      this.#bell.ring();
    });
    this.#nextHeartbeatMs = this.#clock.monotonic() + HEARTBEAT_MS;
    try {
      while (!running.signal.aborted) {
        const nowMs = this.#clock.monotonic();
        if (nowMs >= this.#nextHeartbeatMs) this.#heartbeat(nowMs);
        if (nowMs >= this.#nextRoundMs && this.#isAnyStale(nowMs)) await this.#makeStale(nowMs);
        this.#sendNews();
        await this.#bell.wait(this.#clock, this.#restMs(), running.signal);
      }
    } finally {
      unsubscribe();
      this.#views.clear();
      this.#running = null;
      // A stream was added while the last one ended.
      if (this.#streams.size > 0) void this.#run();
    }
  }

  /** Returns for how long there is nothing to do, in milliseconds. */
  #restMs(): number {
    const nowMs = this.#clock.monotonic();
    const oldestMs = Math.min(...[...this.#views.values()].map(({ madeAtMs }) => madeAtMs));
    const dueMs = this.#isAnyStale(nowMs) ? this.#nextRoundMs : oldestMs + REFRESH_MS;
    return Math.max(0, Math.min(dueMs, this.#nextHeartbeatMs) - nowMs);
  }

  #isAnyStale(nowMs: number): boolean {
    for (const stream of this.#streams) {
      const view = this.#views.get(keyOf(stream));
      if (view === undefined || this.#isStale(view, nowMs)) return true;
    }
    return false;
  }

  #isStale({ news, madeAtMs }: View, nowMs: number): boolean {
    return this.#hasChanged || news !== this.#news || nowMs - madeAtMs >= REFRESH_MS;
  }

  /** Renders the views that may have changed. */
  async #makeStale(beganMs: number): Promise<void> {
    // Later changes count as the next news.
    if (this.#hasChanged) this.#news += 1;
    this.#hasChanged = false;
    const views = new Map<string, View>();
    for (const stream of this.#streams) {
      const key = keyOf(stream);
      views.set(key, views.get(key) ?? this.#views.get(key) ?? viewOf(stream));
    }
    this.#views.clear();
    for (const [key, view] of views) this.#views.set(key, view);
    const stale = [...views.values()].filter(
      ({ news, madeAtMs }) => news !== this.#news || beganMs - madeAtMs >= REFRESH_MS,
    );
    for (const view of stale) await this.#make(view);
    const endedMs = this.#clock.monotonic();
    const restMs = Math.min((endedMs - beganMs) / ROUND_PART, LONGEST_ROUND_MS);
    this.#nextRoundMs = Math.max(beganMs + ROUND_MS, endedMs + restMs);
  }

  async #make(view: View): Promise<void> {
    view.news = this.#news;
    try {
      view.parts = await this.#page.parts(view.query, view.mayAct);
      view.hasFailed = false;
    } catch (error) {
      if (!view.hasFailed) this.#failed(error);
      view.hasFailed = true;
    }
    view.madeAtMs = this.#clock.monotonic();
  }

  /** Sends each page the parts that changed since its last message. */
  #sendNews(): void {
    const made = new Map<View, Map<Stream['shown'], string | null>>();
    for (const stream of this.#streams) {
      const view = this.#views.get(keyOf(stream));
      // A slow reader gets all changes in one message after it has read the last one.
      if (view === undefined || view.parts === null || stream.shown === view.parts || stream.unread > 0)
        continue;
      const messages = made.get(view) ?? new Map<Stream['shown'], string | null>();
      made.set(view, messages);
      let message = messages.get(stream.shown);
      if (message === undefined) messages.set(stream.shown, (message = messageOf(stream.shown, view.parts)));
      stream.shown = view.parts;
      if (message !== null) this.#write(stream, message);
    }
  }

  #write(stream: Stream, message: string): void {
    if (stream.response.destroyed) return;
    stream.unread += 1;
    stream.response.write(message, () => {
      stream.unread -= 1;
      if (stream.unread === 0) this.#bell.ring();
    });
  }

  /** Sends a clock event, and ends streams whose client reads nothing. */
  #heartbeat(nowMs: number): void {
    this.#nextHeartbeatMs = nowMs + HEARTBEAT_MS;
    for (const stream of this.#streams) {
      const isBehind = stream.unread > 0;
      if (isBehind && stream.wasBehind) stream.response.destroy();
      else if (!isBehind) this.#write(stream, `event: clock\ndata: ${Math.round(this.#clock.now())}\n\n`);
      stream.wasBehind = isBehind;
    }
  }
}

/** Equal for streams with the same parts. */
function keyOf({ asked, mayAct }: Stream): string {
  return `${mayAct() ? 'act' : 'look'}?${asked}`;
}

function viewOf({ query, mayAct }: Stream): View {
  return { query, mayAct: mayAct(), parts: null, madeAtMs: -Infinity, news: -1, hasFailed: false };
}

/** Returns an event with the parts that differ; `null` without any. */
function messageOf(
  shown: ReadonlyMap<string, string> | null,
  parts: ReadonlyMap<string, string>,
): string | null {
  const changed = [...parts].filter(([id, markup]) => shown?.get(id) !== markup);
  return changed.length === 0
    ? null
    : `event: parts\ndata: ${JSON.stringify(Object.fromEntries(changed))}\n\n`;
}
