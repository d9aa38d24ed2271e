import { listener, type Emit } from '../../sync/events.ts';
import { LiveLine } from './live-frame.ts';
import { writeError } from './output.ts';
import { progressLine, type ProgressFacts } from './progress-line.ts';
import { TransferTally, type FileInFlight } from '../../run/transfer-tally.ts';
import type { Outage } from '../../sync/pass/circuit-breaker.ts';

/** The interval of redrawing, in milliseconds. */
const FRAME_MS = 125;

/** Shorter work shows no line, in milliseconds. */
const PATIENCE_MS = 300;

/** Files of this size are named at once; smaller ones after some time. */
const NAMED_BYTES = 1_000_000;
const NAMED_AFTER_MS = 1000;

/** Why nothing is sent for a while; times are milliseconds from now, `null` if unknown. */
export type Hold = Omit<Extract<ProgressFacts, { readonly kind: 'waiting' }>, 'kind'>;

/** Counts what is sent, and shows it as a line on a terminal, from the first event until `stop`. */
export class Progress {
  readonly tally = new TransferTally(() => performance.now());
  readonly #hold: () => Hold | null;
  readonly #line = new LiveLine({ write: writeError, columns });
  #timer: NodeJS.Timeout | null = null;
  #beganMs = 0;
  /** Files checked so far. */
  #lookedAt: number | null = null;
  #text: { readonly text: string; readonly sinceMs: number } | null = null;
  readonly #draw = (): void => {
    this.#tick();
  };
  readonly #stop = (): void => {
    this.stop();
  };
  readonly listener: Emit;

  /**
   * @param isShown - whether there is a terminal for the line; else files are only counted.
   * @param hold - `null` while nothing prevents sending.
   */
  constructor(isShown: boolean, hold: () => Hold | null) {
    this.#hold = hold;
    this.listener = (event) => {
      this.tally.listener(event);
      if (event.kind === 'sent') this.tally.done(event.bytes);
      if (isShown) this.#showEvent(event);
    };
  }

  readonly #showEvent = listener({
    'attempt-began': () => {
      this.#show();
    },
    counting: ({ files }) => {
      this.#lookedAt = files;
      this.#show();
    },
    expected: ({ files, bytes }) => {
      this.tally.expected = files === 0 ? null : { files, bytes };
      this.#lookedAt = null;
      if (files > 0) this.#show();
    },
    confirming: ({ words }) => {
      this.#text = { text: words, sinceMs: this.#text?.sinceMs ?? performance.now() };
      this.#show();
    },
  });

  /** Writes lines above the progress line, if there is one. */
  log(lines: string): void {
    this.#line.above(lines);
  }

  /** Erases the line. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#lookedAt = null;
    this.#text = null;
    process.stderr.off('resize', this.#draw);
    process.off('exit', this.#stop);
    this.#line.clear();
  }

  #show(): void {
    if (this.#timer !== null) return;
    this.#beganMs = performance.now();
    this.#timer = setInterval(this.#draw, FRAME_MS);
    this.#timer.unref();
    process.stderr.on('resize', this.#draw);
    // The cursor is hidden.
    process.on('exit', this.#stop);
  }

  #tick(): void {
    const rate = this.tally.rate();
    if (performance.now() - this.#beganMs < PATIENCE_MS) return;
    const facts = this.#facts(rate);
    if (facts === null) this.#line.clear();
    // Leave the last column free: some terminals wrap as soon as it is written.
    else this.#line.show(progressLine(facts, columns() - 1));
  }

  #facts(rate: ReturnType<TransferTally['rate']>): ProgressFacts | null {
    const { tally } = this;
    if (this.#text !== null)
      return { kind: 'text', text: this.#text.text, forMs: performance.now() - this.#text.sinceMs };
    const hold = this.#hold();
    if (hold !== null) return { kind: 'waiting', ...hold };
    const inFlight = tally.inFlightCount;
    if (tally.expected === null && inFlight === 0)
      return this.#lookedAt === null ? null : { kind: 'looking', files: this.#lookedAt };
    const { files, bytes, expected, part, largest } = tally;
    const named = largest !== null && isWorthNaming(largest) ? largest : null;
    return { kind: 'sending', files, bytes, part, expected, rate, largest: named, inFlight };
  }
}

function columns(): number {
  return process.stderr.columns || 80;
}

function isWorthNaming({ sizeBytes, beganMs }: FileInFlight): boolean {
  return sizeBytes >= NAMED_BYTES || performance.now() - beganMs >= NAMED_AFTER_MS;
}

/** Shorter pauses are not shown, in milliseconds. */
const SHORT_MS = 1000;

/**
 * Returns why nothing is sent; `null` if sending is possible.
 *
 * @param pausedForMs - how long the platform asked us to wait from now.
 * @param giveUpAfterMs - the limit of an outage; `null` for none.
 */
export function holdOf(
  outage: Outage | null,
  pausedForMs: number,
  giveUpAfterMs: number | null,
): Hold | null {
  if (outage !== null) {
    const nowMs = Date.now();
    return {
      reason: `platform unreachable: ${outage.reason}`,
      goesOnInMs: outage.nextProbeMs === null ? null : outage.nextProbeMs - nowMs,
      givesUpInMs: giveUpAfterMs === null ? null : outage.sinceMs + giveUpAfterMs - nowMs,
    };
  }
  if (pausedForMs <= SHORT_MS) return null;
  return { reason: 'the platform asked for a pause', goesOnInMs: pausedForMs, givesUpInMs: null };
}
