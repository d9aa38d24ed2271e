import type { IncomingHttpHeaders } from 'node:http';
import type { EmulatorRequest } from './request.ts';

export interface RecordedRequest {
  /** From 1, since the start. */
  readonly number: number;
  /** Epoch ms. */
  readonly at: number;
  /** `unknown` if no operation matches the method and path. */
  readonly operation: string;
  readonly method: string;
  /** Without the query, which contains signatures. */
  readonly path: string;
  /** Null before the answer, and if the connection ended without one. */
  status: number | null;
  readonly key?: string;
  readonly botId?: string;
  /** With secrets masked. */
  readonly headers: IncomingHttpHeaders;
}

/** Counts of operations, and the latest requests, without those of the page. */
export class RequestLog {
  readonly counts = new Map<string, number>();
  readonly latest: RecordedRequest[] = [];
  readonly #max: number;
  readonly #now: () => number;
  #total = 0;

  /** `max`: the number of requests kept; `now`: epoch ms. */
  constructor(max: number, now: () => number) {
    this.#max = max;
    this.#now = now;
  }

  count(operation: string): void {
    this.counts.set(operation, (this.counts.get(operation) ?? 0) + 1);
    this.#total += 1;
  }

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
