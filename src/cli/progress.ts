import { Presets, SingleBar } from 'cli-progress';
import prettyBytes from 'pretty-bytes';

/** What sending one file costs beside its bytes, expressed in bytes: small files take requests, not bandwidth. */
const FILE_WEIGHT = 64 * 1024;

/** The progress line of a terminal: files, bytes, rate, time left. It shows once it is known that something is to be sent. */
export class Progress {
  readonly #bar: SingleBar;
  #isOn = false;
  #files = 0;
  #bytes = 0;
  #beganMs = 0;
  #totalFiles = 0;
  #totalBytes = 0;

  constructor(stream: NodeJS.WritableStream) {
    this.#bar = new SingleBar(
      {
        stream,
        format: '{bar} {percentage}% | {files} files | {bytes} | {rate}/s | {eta_formatted} left',
        clearOnComplete: true,
        hideCursor: true,
        barsize: 24,
        etaBuffer: 200,
        fps: 8,
      },
      Presets.shades_classic,
    );
  }

  /** Says how much there is to send in all. */
  start(files: number, bytes: number): void {
    if (files === 0) return;
    this.#isOn = true;
    this.#beganMs = performance.now();
    this.#totalFiles = files;
    this.#totalBytes = bytes;
    this.#bar.start(bytes + files * FILE_WEIGHT, 0, this.#payload());
  }

  /** One more file was sent. */
  add(bytes: number): void {
    this.#files += 1;
    this.#bytes += bytes;
    if (this.#isOn) this.#bar.update(this.#bytes + this.#files * FILE_WEIGHT, this.#payload());
  }

  /** Writes something else to the terminal without mixing it into the line. */
  stepAside(write: () => void): void {
    if (this.#isOn) process.stderr.write('\r\u001b[2K');
    write();
    if (this.#isOn) this.#bar.render();
  }

  /** Takes the line away. */
  stop(): void {
    if (this.#isOn) this.#bar.stop();
    this.#isOn = false;
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
