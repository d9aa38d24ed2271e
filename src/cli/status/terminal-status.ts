import { escapeControls as shown } from '../../domain/escape.ts';
import { timeOfDay } from '../../service/log-line.ts';
import type { Standing } from '../../sync/plan/standing.ts';
import { describeSpan } from '../../words/quantity.ts';
import { describeStatus, type StatusWords } from '../../words/status.ts';
import { listenForKeys } from '../render/keys.ts';
import { LiveFrame } from '../render/live-frame.ts';
import { statusFrame } from '../render/status-frame.ts';
import { writeAll } from '../render/write-descriptor.ts';
import { newsOf, type FeedNews } from './feed-news.ts';
import type { SeenFacts } from './status-feed.ts';

/** The times that are told go on, milliseconds. */
const TICK_MS = 1000;

/** Keeps the status up to date on a terminal. */
export class TerminalStatus {
  readonly #words: Omit<StatusWords, 'nowMs'>;
  readonly #intervalMs: number;
  readonly #frame: LiveFrame;
  readonly #giveKeysBack: () => void;
  readonly #timer: NodeJS.Timeout;
  #last: { readonly seen: SeenFacts; readonly standing: Standing; readonly atMs: number } | null = null;
  #news: FeedNews | null = null;
  #trouble: string | null = null;
  readonly #redraw = (): void => {
    this.#frame.spoil();
    this.#draw();
  };
  /** The cursor was hidden. */
  readonly #leave = (): void => {
    this.#frame.leave();
  };

  /**
   * @param intervalMs - how often is asked.
   * @param quit - ends the watch: somebody has seen enough, or nobody is left to see it.
   */
  constructor(words: Omit<StatusWords, 'nowMs'>, intervalMs: number, quit: () => void) {
    this.#words = words;
    this.#intervalMs = intervalMs;
    this.#frame = new LiveFrame({
      write: (text) => {
        if (!writeAll(1, text)) quit();
      },
    });
    const { stdin, stdout } = process;
    this.#giveKeysBack = stdin.isTTY
      ? listenForKeys(stdin, { quit, redraw: this.#redraw, suspending: this.#leave })
      : () => undefined;
    this.#timer = setInterval(() => {
      this.#draw();
    }, TICK_MS);
    stdout.on('resize', this.#redraw);
    process.on('exit', this.#leave);
  }

  /** Shows these facts from now on. */
  show(seen: SeenFacts, standing: Standing): void {
    const atMs = Date.now();
    this.#news = newsOf(this.#last?.seen ?? null, seen, this.#news, atMs);
    this.#last = { seen, standing, atMs };
    this.#trouble = null;
    this.#draw();
  }

  /** Says that there are no newer facts, and why. */
  failed(message: string): void {
    this.#trouble = message;
    this.#draw();
  }

  /** Leaves the last status where it is, and the terminal as it was. */
  end(): void {
    clearInterval(this.#timer);
    process.stdout.off('resize', this.#redraw);
    process.off('exit', this.#leave);
    this.#giveKeysBack();
    this.#leave();
  }

  #draw(): void {
    if (this.#last === null) return;
    const { seen, standing, atMs } = this.#last;
    const { paint } = this.#words;
    const every = `every ${describeSpan(this.#intervalMs)}`;
    const news = this.#trouble === null ? this.#news : { style: 'failure' as const, text: this.#trouble };
    const words = { ...this.#words, nowMs: Date.now() };
    const [verdict = '', ...rest] = describeStatus(seen.known, standing, seen.daemon, words);
    this.#frame.show(
      statusFrame(
        {
          head: paint('aside', `${timeOfDay(new Date(atMs))}, ${every}; q quits`),
          lines: [verdict, ...(news === null ? [] : [paint(news.style, shown(news.text))]), ...rest],
        },
        { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 },
      ),
    );
  }
}
