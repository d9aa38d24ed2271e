import type { OutgoingContent } from '../domain/file-platform.ts';
import type { Throughput } from '../domain/throughput.ts';
import type { Pacer } from './pacer.ts';

/** A request's body on its way. */
export interface OpenBody {
  readonly sizeBytes: number;
  readonly content: Buffer | string | AsyncIterable<Buffer> | null;
  /** Bytes that the connection has taken so far. */
  readonly sentBytes: () => number;
  /** Where it is counted how fast content gets through; `null`: it is no content of a file. */
  readonly throughput: Throughput | null;
  /** Told whether the next part is waited for (`ours`) or was handed over (`theirs`). Set by the sender. */
  onTurn: (whose: 'ours' | 'theirs') => void;
}

/** A body that is there as a whole, and no content of a file. */
export function plainBody(text: string | null): OpenBody {
  return bodyOf(text, text === null ? 0 : Buffer.byteLength(text), null);
}

/** Makes a request's body of a file's content: paced and counted. */
export function contentBody(
  content: OutgoingContent,
  pacer: Pacer,
  throughput: Throughput,
  signal: AbortSignal,
): OpenBody {
  const limit = (chunk: Buffer): Promise<void> | null => pacer.bytes(chunk.length, signal);
  switch (content.kind) {
    case 'whole': {
      const { bytes } = content;
      const wait = limit(bytes);
      if (wait === null) return bodyOf(bytes, bytes.length, throughput);
      return new ChunkedBody([bytes], bytes.length, () => wait, throughput);
    }
    case 'stream':
      return new ChunkedBody(content.chunks, content.sizeBytes, limit, throughput);
  }
}

function bodyOf(content: Buffer | string | null, sizeBytes: number, throughput: Throughput | null): OpenBody {
  return { sizeBytes, content, sentBytes: () => sizeBytes, throughput, onTurn: () => undefined };
}

/** Only the other side's time counts as a stall: not reading the disk, and not waiting for our own limits. */
class ChunkedBody implements OpenBody {
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Buffer>;
  readonly throughput: Throughput;
  onTurn: OpenBody['onTurn'] = () => undefined;
  #sentBytes = 0;

  constructor(
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
    sizeBytes: number,
    limit: (chunk: Buffer) => Promise<void> | null,
    throughput: Throughput,
  ) {
    this.sizeBytes = sizeBytes;
    this.throughput = throughput;
    this.content = this.#handOver(chunks, limit);
  }

  readonly sentBytes = (): number => this.#sentBytes;

  async *#handOver(
    chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
    limit: (chunk: Buffer) => Promise<void> | null,
  ): AsyncGenerator<Buffer> {
    this.onTurn('ours');
    for await (const chunk of chunks) {
      const wait = limit(chunk);
      if (wait !== null) await wait;
      this.onTurn('theirs');
      yield chunk;
      this.onTurn('ours');
      this.#sentBytes += chunk.length;
    }
    this.onTurn('theirs');
  }
}
