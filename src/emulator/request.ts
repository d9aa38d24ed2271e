import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { readBytes } from './read-bytes.ts';

/** A JSON request body, or why there is none. */
export type JsonBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'cut' };

/** Deeper nesting than anything has that is kept here, and less than what SQLite and recursion bear. */
const DEEPEST_NESTING = 500;

/** One request as the operations see it. */
export class EmulatorRequest {
  readonly message: IncomingMessage;
  /** GET for a HEAD request as well. */
  readonly method: string;
  /** The raw path: percent-encoded, without the query. */
  readonly path: string;
  /** The raw query without its question mark. */
  readonly query: string;
  /** The decoded path parameters of the matched operation. */
  params: Readonly<Record<string, string>> = {};
  readonly #jsonBytes: number;
  #json: Promise<JsonBody> | null = null;

  /** `jsonBytes`: the largest JSON body that is read. */
  constructor(message: IncomingMessage, jsonBytes: number) {
    const target = message.url ?? '/';
    const queryStart = target.indexOf('?');
    this.message = message;
    this.method = message.method === 'HEAD' ? 'GET' : (message.method ?? 'GET');
    this.path = queryStart === -1 ? target : target.slice(0, queryStart);
    this.query = queryStart === -1 ? '' : target.slice(queryStart + 1);
    this.#jsonBytes = jsonBytes;
  }

  get headers(): IncomingHttpHeaders {
    return this.message.headers;
  }

  /** A header that may be given once; null when it is missing or empty. */
  header(name: string): string | null {
    const value = this.message.headers[name];
    return typeof value === 'string' && value !== '' ? value : null;
  }

  /** The body as JSON; it is read once, however often this is called. Never rejects. */
  readJson(): Promise<JsonBody> {
    this.#json ??= this.#readJson();
    return this.#json;
  }

  async #readJson(): Promise<JsonBody> {
    const body = await readBytes(this.message, this.#jsonBytes);
    if (body.kind !== 'complete') return body;
    try {
      const value: unknown = JSON.parse(body.bytes.toString('utf8'));
      return isDeeperThan(DEEPEST_NESTING, value) ? { kind: 'malformed' } : { kind: 'json', value };
    } catch {
      return { kind: 'malformed' };
    }
  }
}

function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((one): unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
