import type { IncomingHttpHeaders } from 'node:http';
import type { EmulatorRequest } from './request.ts';

/** One request the emulator got. */
export interface RecordedRequest {
  /** Counts the requests since the start, from 1. */
  readonly number: number;
  /** When it came, epoch ms. */
  readonly at: number;
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

/** What people and tests may look at afterwards: counts an operation, and the latest requests. Requests for the page are none. */
export class RequestLog {
  readonly counts = new Map<string, number>();
  readonly latest: RecordedRequest[] = [];
  readonly #max: number;
  readonly #now: () => number;
  #total = 0;
  #version = 0;

  /** `max`: how many requests are kept; `now`: epoch ms. */
  constructor(max: number, now: () => number) {
    this.#max = max;
    this.#now = now;
  }

  /** Requests since the start. */
  get total(): number {
    return this.#total;
  }

  /** Another number whenever a request has come or was answered. */
  get version(): number {
    return this.#version;
  }

  /** Counts a request. */
  count(operation: string): void {
    this.counts.set(operation, (this.counts.get(operation) ?? 0) + 1);
    this.#total += 1;
    this.#version += 1;
  }

  /** Notes the status of the answer. */
  settle(recorded: RecordedRequest, status: number): void {
    recorded.status = status;
    this.#version += 1;
  }

  /** Keeps a request, forgetting the oldest when there are too many. */
  record(operation: string, request: EmulatorRequest, key: string | null): RecordedRequest {
    const botId = request.header('x-bot-id');
    const recorded: RecordedRequest = {
      number: this.#total,
      at: this.#now(),
      operation,
      method: request.message.method ?? '',
      path: request.path,
      status: null,
      ...(key === null ? {} : { key }),
      ...(botId === null ? {} : { botId }),
      headers: mask(request.headers),
    };
    this.latest.push(recorded);
    if (this.latest.length > this.#max) this.latest.shift();
    return recorded;
  }
}

function mask(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const masked = { ...headers };
  if (masked.authorization !== undefined) masked.authorization = '***';
  if (masked['x-user-key'] !== undefined) masked['x-user-key'] = '***';
  return masked;
}
