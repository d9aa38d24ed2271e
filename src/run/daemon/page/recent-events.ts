import { withoutColour, type Style } from '../../../service/colour.ts';
import {
  type Log,
  type StyledLog,
  logLine,
  textOf,
  type LogLevel,
  type Words,
} from '../../../service/logger.ts';
import type { PageEvent } from '../../../page/facts.ts';

/** Maximum number of events, and of characters per event. */
const KEPT = 200;
const LONGEST = 1000;

/** The latest log lines, for the page, in memory. */
export class RecentEvents implements StyledLog {
  readonly #now: () => number;
  readonly #changed: () => void;
  #events: PageEvent[] = [];
  #count = 0;

  /**
   * @param now - epoch milliseconds.
   * @param changed - called after each line.
   */
  constructor(now: () => number, changed: () => void) {
    this.#now = now;
    this.#changed = changed;
  }

  get newestFirst(): PageEvent[] {
    return [...this.#events].reverse();
  }

  /** Returns a log that writes to another log and to this one. */
  beside(log: Log): Log {
    const both =
      (level: 'debug' | 'info' | 'warn' | 'error') =>
      (message: string, fields?: object): void => {
        log[level](message, fields);
        this[level](message, fields);
      };
    return { debug: both('debug'), info: both('info'), warn: both('warn'), error: both('error') };
  }

  say = (level: LogLevel, words: Words): void => {
    this.#add(level, words.style, textOf(words));
  };

  debug = (): void => undefined;

  info = (message: string, fields?: object): void => {
    this.#note('info', message, fields);
  };

  warn = (message: string, fields?: object): void => {
    this.#note('warn', message, fields);
  };

  error = (message: string, fields?: object): void => {
    this.#note('error', message, fields);
  };

  #note(level: LogLevel, message: string, fields: object = {}): void {
    // The page shows the level itself.
    const words = { style: null, head: '', rest: message };
    this.#add(level, null, logLine('info', words, fields, { time: null, paint: withoutColour }));
  }

  #add(level: LogLevel, style: Style | null, text: string): void {
    if (level === 'debug') return;
    this.#count += 1;
    const event = { id: this.#count, atMs: this.#now(), level, style, text: text.slice(0, LONGEST) };
    this.#events = [...this.#events.slice(-KEPT + 1), event];
    this.#changed();
  }
}
