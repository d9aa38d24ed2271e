import type { Clock } from '../../domain/clock.ts';
import type { FilePlatform, OutgoingContent } from '../../domain/file-catalog.ts';
import type { Emit, OutgoingFile } from '../events.ts';

/** Follows the attempts to send one file, for those who watch and for the time that it took. */
export class SendWatch {
  readonly #file: OutgoingFile;
  readonly #emit: Emit;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #beganMs = 0;
  #attempt: OutgoingFile | null = null;

  constructor(file: OutgoingFile, emit: Emit, clock: Pick<Clock, 'monotonic'>) {
    this.#file = file;
    this.#emit = emit;
    this.#clock = clock;
  }

  /** Time since the beginning of the last attempt, milliseconds. */
  get tookMs(): number {
    return Math.round(this.#clock.monotonic() - this.#beganMs);
  }

  /** The platform that sends the file: each upsert begins an attempt. */
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
      isTimeKnown: () => platform.isTimeKnown(),
    };
  }

  #begin(): void {
    this.#beganMs = this.#clock.monotonic();
    this.#attempt = { ...this.#file };
    this.#emit({ kind: 'attempt-began', file: this.#attempt });
  }

  #end(): void {
    if (this.#attempt !== null) this.#emit({ kind: 'attempt-ended', file: this.#attempt });
    this.#attempt = null;
  }

  #counted(content: OutgoingContent): OutgoingContent {
    const attempt = this.#attempt;
    // Content that is sent in one piece has no progress.
    if (attempt === null || content.kind === 'whole') return content;
    const progress = (bytes: number): void => {
      this.#emit({ kind: 'attempt-progress', file: attempt, bytes });
    };
    return { ...content, chunks: counted(content.chunks, progress) };
  }
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  progress: (bytes: number) => void,
): AsyncGenerator<Buffer, void> {
  for await (const chunk of chunks) {
    const { length } = chunk;
    yield chunk;
    // The next chunk is requested once the connection has accepted this one.
    progress(length);
  }
}
