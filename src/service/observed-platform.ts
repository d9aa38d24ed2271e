import type { Outcome } from '../domain/failure.ts';
import type { FilePlatform, OutgoingContent } from '../domain/file-platform.ts';
import type { RequestOperation, RequestOutcome } from './metrics.ts';
import type { Stage } from './pulse.ts';

/** What is wanted to be known of requests. */
export interface RequestObserver {
  /** Moves with every request and every piece of content. */
  readonly stage: Stage;
  readonly requestEnded: (operation: RequestOperation, outcome: RequestOutcome, seconds: number) => void;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

/** A platform whose requests are told of. */
export function observed(platform: FilePlatform, observer: RequestObserver): FilePlatform {
  const { stage, monotonic } = observer;
  const measure = async <T>(
    operation: RequestOperation,
    request: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> => {
    const beganMs = monotonic();
    stage.begin();
    try {
      const ended = await request();
      const outcome = ended.kind === 'ok' ? 'ok' : ended.failure.kind;
      observer.requestEnded(operation, outcome, (monotonic() - beganMs) / 1000);
      return ended;
    } finally {
      stage.end();
    }
  };
  return {
    upsert: (botId, body, signal) => measure('upsert', () => platform.upsert(botId, body, signal)),
    upload: (file, content, publicAtOnce, signal) =>
      measure('upload', () => platform.upload(file, moving(content, stage), publicAtOnce, signal)),
    storeBytesPerSecond: () => platform.storeBytesPerSecond(),
    now: () => platform.now(),
    hasToldTime: () => platform.hasToldTime(),
  };
}

function moving(content: OutgoingContent, stage: Stage): OutgoingContent {
  return content.kind === 'whole' ? content : { ...content, chunks: told(content.chunks, stage) };
}

async function* told(chunks: AsyncIterable<Buffer>, stage: Stage): AsyncGenerator<Buffer, void> {
  for await (const chunk of chunks) {
    stage.progress();
    yield chunk;
  }
}
