import type { Dispatcher } from 'undici';

/**
 * Reads an answer piece by piece, and keeps none of it. Gives its status; only the content of a success is told. Redirects
 * are not followed. Rejects with what broke the connection.
 *
 * @param stallTimeoutMs - it is given up when nothing comes for so long.
 */
export function download(
  dispatcher: Dispatcher,
  url: URL,
  stallTimeoutMs: number,
  onChunk: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: {},
        headersTimeout: stallTimeoutMs,
        bodyTimeout: stallTimeoutMs,
      },
      new Download(onChunk, signal, resolve, reject),
    );
  });
}

class Download implements Dispatcher.DispatchHandler {
  readonly #onChunk: (chunk: Buffer) => void;
  readonly #signal: AbortSignal;
  readonly #resolve: (status: number) => void;
  readonly #reject: (error: Error) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;

  constructor(
    onChunk: (chunk: Buffer) => void,
    signal: AbortSignal,
    resolve: (status: number) => void,
    reject: (error: Error) => void,
  ) {
    this.#onChunk = onChunk;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => {
    const error = new Error('interrupted');
    this.#controller?.abort(error);
    this.#end();
    this.#reject(error);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#abort();
  }

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#status >= 200 && this.#status < 300) this.#onChunk(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    this.#resolve(this.#status);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#signal.removeEventListener('abort', this.#abort);
  }
}
