import type { OutgoingFile, TransferWatch } from '../../sync/pass/reporter.ts';
import { LiveLine } from './live-line.ts';
import { progressLine, type ProgressFacts } from './progress-line.ts';
import { TransferTally, type FileInFlight } from '../../library/transfer-tally.ts';

/** The line is drawn again so often, milliseconds. */
const FRAME_MS = 125;

/** What is over sooner shows no line, milliseconds. */
const PATIENCE_MS = 300;

/** A file this large is named at once, bytes; a smaller one when it has been on its way for a while. */
const NAMED_BYTES = 1_000_000;
const NAMED_AFTER_MS = 1000;

/** Why nothing is sent for a while; times in milliseconds from now, `null`: not known. */
export type Hold = Omit<Extract<ProgressFacts, { readonly kind: 'waiting' }>, 'kind'>;

/** What a progress line is drawn on, and what it has to ask for. */
export interface ProgressPorts {
  readonly terminal: Pick<NodeJS.WriteStream, 'columns' | 'on' | 'off'>;
  /** Writes to that terminal. */
  readonly write: (text: string) => void;
  /** `null`: nothing is in the way. */
  readonly hold: () => Hold | null;
}

/** Keeps a line of progress up to date on a terminal, from the first thing that is told to it until `stop`. */
export class Progress {
  readonly tally = new TransferTally(() => performance.now());
  readonly #ports: ProgressPorts;
  readonly #line: LiveLine;
  #timer: NodeJS.Timeout | null = null;
  #beganMs = 0;
  #lookedAt: number | null = null;
  #text: { readonly text: string; readonly sinceMs: number } | null = null;
  readonly #draw = (): void => {
    this.#tick();
  };
  readonly #stop = (): void => {
    this.stop();
  };

  constructor(ports: ProgressPorts) {
    this.#ports = ports;
    const columns = (): number => ports.terminal.columns || 80;
    this.#line = new LiveLine({ write: ports.write, columns });
  }

  /** Files are looked at; so many so far. */
  look(files: number): void {
    this.#lookedAt = files;
    this.#start();
  }

  /** Says how much there is to send in all. */
  expect(files: number, bytes: number): void {
    this.tally.expected = files === 0 ? null : { files, bytes };
    this.#lookedAt = null;
    if (files > 0) this.#start();
  }

  /** A file is on its way. */
  sending(file: OutgoingFile): TransferWatch {
    this.#start();
    return this.tally.begin(file);
  }

  /** Shows a text in place of all else, with the time for which something is waited for. */
  say(text: string): void {
    this.#text = { text, sinceMs: this.#text?.sinceMs ?? performance.now() };
    this.#start();
  }

  /** Writes lines above the progress line, or as they are while there is none. */
  log(lines: string): void {
    this.#line.above(lines);
  }

  /** Takes the line away. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#lookedAt = null;
    this.#text = null;
    this.#ports.terminal.off('resize', this.#draw);
    process.off('exit', this.#stop);
    this.#line.clear();
  }

  #start(): void {
    if (this.#timer !== null) return;
    this.#beganMs = performance.now();
    this.#timer = setInterval(this.#draw, FRAME_MS);
    this.#timer.unref();
    this.#ports.terminal.on('resize', this.#draw);
    // The cursor was hidden.
    process.on('exit', this.#stop);
  }

  #tick(): void {
    const rate = this.tally.rate();
    if (performance.now() - this.#beganMs < PATIENCE_MS) return;
    const facts = this.#facts(rate);
    if (facts === null) this.#line.clear();
    // The last column is left free: some terminals begin a new line as soon as it is written.
    else this.#line.show(progressLine(facts, (this.#ports.terminal.columns || 80) - 1));
  }

  #facts(rate: ReturnType<TransferTally['rate']>): ProgressFacts | null {
    const { tally } = this;
    if (this.#text !== null)
      return { kind: 'text', text: this.#text.text, forMs: performance.now() - this.#text.sinceMs };
    const hold = this.#ports.hold();
    if (hold !== null) return { kind: 'waiting', ...hold };
    const inFlight = tally.inFlightCount;
    if (tally.expected === null && inFlight === 0)
      return this.#lookedAt === null ? null : { kind: 'looking', files: this.#lookedAt };
    const { files, bytes, expected, part, largest } = tally;
    const named = largest !== null && isWorthNaming(largest) ? largest : null;
    return { kind: 'sending', files, bytes, part, expected, rate, largest: named, inFlight };
  }
}

function isWorthNaming({ sizeBytes, beganMs }: FileInFlight): boolean {
  return sizeBytes >= NAMED_BYTES || performance.now() - beganMs >= NAMED_AFTER_MS;
}
