import type { Clock } from '../../domain/clock.ts';
import type { FilePlatform, OutgoingContent } from '../../domain/file-platform.ts';
import type { OutgoingFile, Reporter, TransferWatch } from './reporter.ts';

/** Follows the attempts to send one file, for those who watch and for the time that it took. */
export class SendWatch {
  readonly #file: OutgoingFile;
  readonly #report: Reporter;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #beganMs = 0;
  #watch: TransferWatch | null = null;

  constructor(file: OutgoingFile, report: Reporter, clock: Pick<Clock, 'monotonic'>) {
    this.#file = file;
    this.#report = report;
    this.#clock = clock;
  }

  /** How long it is since the last attempt began, milliseconds. */
  get tookMs(): number {
    return Math.round(this.#clock.monotonic() - this.#beganMs);
  }

  /** The platform through which the file is to be sent: each upsert begins an attempt. */
  through(platform: FilePlatform): FilePlatform {
    return {
      upsert: async (botId, body, signal) => {
        this.#begin();
        let isTaken = false;
        try {
          const upserted = await platform.upsert(botId, body, signal);
          isTaken = upserted.kind === 'ok';
          return upserted;
        } finally {
          if (!isTaken) this.#end();
        }
      },
      upload: async (address, content, publicAtOnce, signal) => {
        try {
          return await platform.upload(address, this.#counted(content), publicAtOnce, signal);
        } finally {
          this.#end();
        }
      },
      storeBytesPerSecond: () => platform.storeBytesPerSecond(),
      now: () => platform.now(),
      hasToldTime: () => platform.hasToldTime(),
    };
  }

  #begin(): void {
    this.#beganMs = this.#clock.monotonic();
    this.#watch = this.#report.sending?.(this.#file) ?? null;
  }

  #end(): void {
    this.#watch?.ended();
    this.#watch = null;
  }

  #counted(content: OutgoingContent): OutgoingContent {
    const watch = this.#watch;
    // What is sent at once is not seen on its way.
    if (watch === null || content.kind === 'whole') return content;
    return { ...content, chunks: counted(content.chunks, watch) };
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, watch: TransferWatch): AsyncGenerator<Buffer, void> {
  for await (const chunk of chunks) {
    const { length } = chunk;
    yield chunk;
    // The next one is asked for when this one was taken.
    watch.progress(length);
  }
}
