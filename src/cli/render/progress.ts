import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import prettyBytes from 'pretty-bytes';

/** What sending one file costs beside its bytes, expressed in bytes: small files take requests, not bandwidth. */
const FILE_WEIGHT = 64 * 1024;

/** The progress line of a terminal: files, bytes, rate, time left. It shows once it is known that something is to be sent. */
export class Progress {
  readonly #stream: NodeJS.WritableStream;
  readonly #write: (text: string) => void;
  #bars: MultiBar | null = null;
  #bar: SingleBar | null = null;
  #files = 0;
  #bytes = 0;
  #beganMs = 0;
  #totalFiles = 0;
  #totalBytes = 0;
  #isText = false;

  /** @param write - writes to the same terminal while no line is shown. */
  constructor(stream: NodeJS.WritableStream, write: (text: string) => void) {
    this.#stream = stream;
    this.#write = write;
  }

  /** Says how much there is to send in all. */
  start(files: number, bytes: number): void {
    // It may be known only when everything was sent.
    if (files === 0 || this.#isText) return;
    this.#beganMs = performance.now();
    this.#totalFiles = files;
    this.#totalBytes = bytes;
    // Of the two kinds of bars this is the one beside which other lines can be written.
    this.#bars = new MultiBar(
      {
        stream: this.#stream,
        format: '{bar} {percentage}% | {files} files | {bytes} | {rate}/s | {eta_formatted} left',
        clearOnComplete: true,
        hideCursor: true,
        gracefulExit: false,
        barsize: 24,
        etaBuffer: 200,
        fps: 8,
      },
      Presets.shades_classic,
    );
    this.#bar = this.#bars.create(bytes + files * FILE_WEIGHT, 0, this.#payload());
  }

  /** One more file was sent. */
  add(bytes: number): void {
    this.#files += 1;
    this.#bytes += bytes;
    this.#bar?.update(this.#bytes + this.#files * FILE_WEIGHT, this.#payload());
  }

  /** Shows a text in its place, with the time for which something is waited for. */
  say(text: string): void {
    if (!this.#isText) this.stop();
    this.#isText = true;
    this.#bars ??= new MultiBar({
      stream: this.#stream,
      format: '{text} ({duration_formatted})',
      clearOnComplete: true,
      hideCursor: true,
      gracefulExit: false,
      fps: 8,
    });
    this.#bar ??= this.#bars.create(1, 0, { text });
    this.#bar.update(0, { text });
  }

  /** Writes lines above the progress line, or as they are while there is none. */
  log(lines: string): void {
    if (this.#bars === null) this.#write(lines);
    else this.#bars.log(lines);
  }

  /** Takes the line away. */
  stop(): void {
    // The last lines may still wait for the next redraw.
    this.#bars?.update();
    this.#bars?.stop();
    this.#bars = null;
    this.#bar = null;
  }

  #payload(): object {
    const seconds = Math.max(0.001, (performance.now() - this.#beganMs) / 1000);
    return {
      files: `${this.#files.toLocaleString('en')}/${Math.max(this.#files, this.#totalFiles).toLocaleString('en')}`,
      bytes: `${prettyBytes(this.#bytes)}/${prettyBytes(Math.max(this.#bytes, this.#totalBytes))}`,
      rate: prettyBytes(Math.round(this.#bytes / seconds)),
    };
  }
}
