import type { OptionalFailure, Outcome } from '../domain/failure.ts';
import type { FileCatalog, FilePlatform, OutgoingContent } from '../domain/file-catalog.ts';
import type { RequestOperation, RequestOutcome } from './metrics.ts';
import type { Stage } from './pulse.ts';

export interface RequestObserver {
  /** Moves with every request and every piece of content. */
  readonly stage: Stage;
  readonly requestEnded: (operation: RequestOperation, outcome: RequestOutcome, seconds: number) => void;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

/** Reports the requests of a platform. */
export function observed(platform: FilePlatform, observer: RequestObserver): FilePlatform {
  const { stage } = observer;
  return {
    upsert: (botId, body, signal) => measure('upsert', observer, () => platform.upsert(botId, body, signal)),
    upload: (file, content, publicAtOnce, signal) =>
      measure('upload', observer, () => platform.upload(file, moving(content, stage), publicAtOnce, signal)),
    storeBytesPerSecond: () => platform.storeBytesPerSecond(),
    now: () => platform.now(),
    isTimeKnown: () => platform.isTimeKnown(),
  };
}

/** Reports the requests of a catalog. */
export function observedCatalog(catalog: FileCatalog, observer: RequestObserver): FileCatalog {
  return {
    list: (...args) => measure('list', observer, () => catalog.list(...args)),
    get: (...args) => measure('get', observer, () => catalog.get(...args)),
    update: (...args) => measure('update', observer, () => catalog.update(...args)),
    delete: (...args) => measure('delete', observer, () => catalog.delete(...args)),
  };
}

async function measure<T, F extends OptionalFailure>(
  operation: RequestOperation,
  { stage, monotonic, requestEnded }: RequestObserver,
  request: () => Promise<Outcome<T, F>>,
): Promise<Outcome<T, F>> {
  const beganMs = monotonic();
  stage.begin();
  try {
    const ended = await request();
    const outcome = ended.kind === 'ok' ? 'ok' : ended.failure.kind;
    requestEnded(operation, outcome, (monotonic() - beganMs) / 1000);
    return ended;
  } finally {
    stage.end();
  }
}

function moving(content: OutgoingContent, stage: Stage): OutgoingContent {
  return content.kind === 'whole' ? content : { ...content, chunks: observedChunks(content.chunks, stage) };
}

async function* observedChunks(chunks: AsyncIterable<Buffer>, stage: Stage): AsyncGenerator<Buffer, void> {
  for await (const chunk of chunks) {
    stage.progress();
    yield chunk;
  }
}
