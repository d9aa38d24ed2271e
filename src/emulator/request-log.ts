import type { IncomingHttpHeaders } from 'node:http';
import type { EmulatorRequest } from './request.ts';

/** One request the emulator got. */
export interface RecordedRequest {
  /** `unknown` when no operation has this method and path. */
  readonly operation: string;
  readonly method: string;
  /** Without the query, which holds signatures. */
  readonly path: string;
  /** Null while there is no answer, and for good when the connection ended without one. */
  status: number | null;
  readonly key?: string;
  readonly botId?: string;
  /** Secrets masked. */
  readonly headers: IncomingHttpHeaders;
}

/** What tests may look at afterwards: counts an operation always, the latest requests when asked to. */
export class RequestLog {
  readonly counts = new Map<string, number>();
  readonly requests: RecordedRequest[] = [];
  readonly #max: number;

  /** `max`: how many requests are kept; 0 keeps none. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Whether requests are kept. */
  get isOn(): boolean {
    return this.#max > 0;
  }

  /** Counts a request. */
  count(operation: string): void {
    this.counts.set(operation, (this.counts.get(operation) ?? 0) + 1);
  }

  /** Keeps a request, forgetting the oldest when there are too many; its status is filled in by the caller. */
  record(operation: string, request: EmulatorRequest, key: string | null): RecordedRequest {
    const botId = request.header('x-bot-id');
    const recorded: RecordedRequest = {
      operation,
      method: request.message.method ?? '',
      path: request.path,
      status: null,
      ...(key === null ? {} : { key }),
      ...(botId === null ? {} : { botId }),
      headers: mask(request.headers),
    };
    this.requests.push(recorded);
    if (this.requests.length > this.#max) this.requests.shift();
    return recorded;
  }
}

function mask(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const masked = { ...headers };
  if (masked.authorization !== undefined) masked.authorization = '***';
  if (masked['x-user-key'] !== undefined) masked['x-user-key'] = '***';
  return masked;
}
