import type { Known, Standing } from '../../domain/status.ts';
import { escapeControls as shown } from '../../domain/escape.ts';
import type { Style } from '../../service/colour.ts';
import { timeOfDay } from '../../service/logger.ts';
import { counted, describeSpan } from '../../words/quantity.ts';
import { describeStatus, type StatusWords } from '../../words/status.ts';
import { LiveFrame } from '../render/live-frame.ts';
import { wrapLine, cutEnd } from '../render/text-layout.ts';
import { writeAll } from '../render/write-descriptor.ts';
import type { StatusFacts } from './status-facts.ts';

/** The interval of updating relative times, in milliseconds. */
const TICK_MS = 1000;

/** Keeps the status up to date on a terminal. */
export class TerminalStatus {
  readonly #words: Omit<StatusWords, 'nowMs'>;
  readonly #intervalMs: number;
  readonly #frame: LiveFrame;
  readonly #giveKeysBack: () => void;
  readonly #timer: NodeJS.Timeout;
  #last: { readonly seen: StatusFacts; readonly standing: Standing; readonly atMs: number } | null = null;
  #news: FeedNews | null = null;
  #trouble: string | null = null;
  readonly #redraw = (): void => {
    this.#frame.spoil();
    this.#draw();
  };
  /** The cursor is hidden. */
  readonly #leave = (): void => {
    this.#frame.leave();
  };

  /**
   * @param intervalMs - the interval of requests.
   * @param quit - ends the watch: on a key, or when the reader is gone.
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

  show(seen: StatusFacts, standing: Standing): void {
    const atMs = Date.now();
    this.#news = newsOf(this.#last?.seen ?? null, seen, this.#news, atMs);
    this.#last = { seen, standing, atMs };
    this.#trouble = null;
    this.#draw();
  }

  /** Shows why there is no newer status. */
  failed(message: string): void {
    this.#trouble = message;
    this.#draw();
  }

  /** Leaves the last status on the terminal and restores its mode. */
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

/** Painted. */
export interface FrameText {
  /** The first row, cut if it does not fit; omitted on a low terminal. */
  readonly head: string;
  readonly lines: readonly string[];
}

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Lower terminals have no room for the head. */
const LEAST_ROWS_WITH_HEAD = 6;

/**
 * Returns the rows of a frame that fits: wraps lines between words, drops empty rows if there is little room, then
 * counts the remaining rows in the last one.
 */
export function statusFrame({ head, lines }: FrameText, { columns, rows }: FrameSize): string[] {
  // Leave the last column free: some terminals wrap as soon as it is written.
  const width = Math.max(1, columns - 1);
  const all = lines.flatMap((line) => wrapLine(line, width));
  const hasHead = rows >= LEAST_ROWS_WITH_HEAD;
  const room = hasHead ? rows - 2 : Math.max(1, rows);
  const body = all.length > room ? all.filter((row) => row !== '') : all;
  const isCut = body.length > room;
  const kept = isCut ? body.slice(0, Math.max(1, room - 1)) : body;
  const more =
    isCut && room > 1 ? [cutEnd(`… ${counted(body.length - kept.length, 'more line')}`, width)] : [];
  return [...(hasHead ? [...wrapLine(head, width).slice(0, 1), ''] : []), ...kept, ...more];
}

export interface FeedNews {
  readonly style: Style;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly untilMs: number;
}

export interface SeenService extends Pick<StatusFacts, 'daemon'> {
  readonly known: Pick<Known, 'service'>;
}

/** News are shown for this long, in milliseconds. */
const SHOWN_MS = 60_000;

/**
 * Returns the news about the service; `null` without any.
 *
 * @param before - the previous facts; `null` for the first ones.
 * @param current - the news shown now.
 */
export function newsOf(
  before: SeenService | null,
  now: SeenService,
  current: FeedNews | null,
  nowMs: number,
): FeedNews | null {
  // The status itself reports a service that does not run or answer.
  if (now.known.service.kind !== 'running') return null;
  const what = whatBegan(before, now.daemon);
  if (what !== null)
    return { style: 'ok', text: `${what} at ${timeOfDay(new Date(nowMs))}`, untilMs: nowMs + SHOWN_MS };
  return current === null || current.untilMs <= nowMs ? null : current;
}

/** Returns what happened to a service that answers now; `null` if nothing did. */
function whatBegan(before: SeenService | null, daemon: SeenService['daemon']): string | null {
  if (before === null) return null;
  switch (before.known.service.kind) {
    case 'stopped':
    case 'none':
    case 'starting':
      return 'The service started';
    case 'silent':
      return 'The service answered again';
    case 'running':
      return before.daemon?.since === daemon?.since ? null : 'The service was restarted';
  }
}

/** Called for keys while something is displayed. */
interface KeyPorts {
  /** q, Ctrl-C, Ctrl-D or Ctrl-\. */
  readonly quit: () => void;
  /** Ctrl-L, or the command continues after Ctrl-Z. */
  readonly redraw: () => void;
  /** Ctrl-Z: the command is about to be suspended. */
  readonly suspending: () => void;
}

/** Without a shell above it, a command is not suspended; it continues after this time, in milliseconds. */
const SUSPENDED_MS = 100;

/** The sequences of keys without a character; that of F2 contains a Q. */
const ESCAPE_SEQUENCE = /\u001b(?:\[[\d;?]*[ -/]*[@-~]|O.|.)?/gu;

/**
 * Reads keys without echo; the terminal then sends Ctrl-C and Ctrl-Z as characters. Returns a function that ends
 * it.
 */
function listenForKeys(terminal: NodeJS.ReadStream, ports: KeyPorts): () => void {
  let goingOn: NodeJS.Timeout | null = null;
  const goOn = (): void => {
    if (goingOn !== null) clearTimeout(goingOn);
    goingOn = null;
    // The shell changed the mode of the terminal, which Node does not notice.
    terminal.setRawMode(false);
    terminal.setRawMode(true);
    ports.redraw();
  };
  const suspend = (): void => {
    ports.suspending();
    terminal.setRawMode(false);
    // To the whole process group, as the terminal would.
    process.kill(0, 'SIGTSTP');
    goingOn = setTimeout(goOn, SUSPENDED_MS);
  };
  const take = (keys: Buffer): void => {
    for (const key of keys.toString('latin1').replaceAll(ESCAPE_SEQUENCE, '')) {
      if ('qQ\u0003\u0004\u001c'.includes(key)) ports.quit();
      else if (key === '\u000c') ports.redraw();
      else if (key === '\u001a') suspend();
    }
  };
  terminal.setRawMode(true);
  terminal.on('data', take);
  process.on('SIGCONT', goOn);
  return () => {
    if (goingOn !== null) clearTimeout(goingOn);
    process.off('SIGCONT', goOn);
    terminal.off('data', take);
    terminal.setRawMode(false);
    terminal.pause();
  };
}
