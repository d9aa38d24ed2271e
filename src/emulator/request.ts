import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import * as z from 'zod';
import { refuse } from './answer.ts';

/** Largest JSON body in bytes. Source: platform-facts.md, Files. */
const JSON_BYTES_MAX = 1_000_000;

/** Deeper than any data here needs, and less than SQLite and recursion bear. */
const DEEPEST_NESTING = 500;

export class EmulatorRequest {
  readonly message: IncomingMessage;
  /** GET for HEAD, too. */
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Decoded path parameters of the operation. */
  params: Readonly<Record<string, string>> = {};
  #json: Promise<unknown> | null = null;

  constructor(message: IncomingMessage) {
    const target = message.url ?? '/';
    const queryStart = target.indexOf('?');
    this.message = message;
    this.method = message.method === 'HEAD' ? 'GET' : (message.method ?? 'GET');
    this.path = queryStart === -1 ? target : target.slice(0, queryStart);
    this.query = new URLSearchParams(queryStart === -1 ? '' : target.slice(queryStart + 1));
  }

  get headers(): IncomingHttpHeaders {
    return this.message.headers;
  }

  /** Null if the header is missing, empty or repeated. */
  header(name: string): string | null {
    const value = this.message.headers[name];
    return typeof value === 'string' && value !== '' ? value : null;
  }

  /** The integration that calls; '' for the bot itself. */
  get integrationId(): string {
    return this.header('x-integration-id') ?? '';
  }

  /** A path parameter; '' if the operation has none of this name. */
  param(name: string): string {
    return this.params[name] ?? '';
  }

  /** The parsed JSON body, read only once. Refuses with 415, 413 or 400. */
  readJson(): Promise<unknown> {
    this.#json ??= this.#readJson();
    return this.#json;
  }

  /** Refuses like `readJson`, and with 400 InvalidPayload. */
  async readBody<T>(schema: z.ZodType<T>): Promise<T> {
    const parsed = schema.safeParse(await this.readJson());
    return parsed.success ? parsed.data : refuse(400, 'InvalidPayload', describeIssues(parsed.error));
  }

  /** The last of repeated parameters counts. Refuses with 400 InvalidQuery. */
  readQuery<T>(schema: z.ZodType<T>, query: Iterable<[string, string]> = this.query): T {
    const parsed = schema.safeParse(Object.fromEntries(query));
    return parsed.success ? parsed.data : refuse(400, 'InvalidQuery', describeIssues(parsed.error));
  }

  async #readJson(): Promise<unknown> {
    if (!/^application\/json\s*(;|$)/i.test(this.header('content-type') ?? ''))
      refuse(415, 'UnsupportedMediaType', 'The Content-Type must be application/json');
    const body = await readBytes(this.message, JSON_BYTES_MAX);
    if (body === 'too-large')
      refuse(413, 'PayloadTooLarge', `A JSON body is at most ${JSON_BYTES_MAX} bytes`);
    const value = body === 'cut' ? undefined : parseJson(body.toString('utf8'));
    return value === undefined || isDeeperThan(DEEPEST_NESTING, value)
      ? refuse(400, 'InvalidPayload', 'The body is not JSON')
      : value;
  }
}

/** Returns undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads a request body of at most `limitBytes`. Stops at the limit (the server discards the rest), and with `cut`
 * if the connection ends before the last byte. Never rejects.
 */
export function readBytes(
  message: IncomingMessage,
  limitBytes: number,
): Promise<Buffer | 'too-large' | 'cut'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (result: Buffer | 'too-large' | 'cut'): void => {
      message.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      chunks.push(chunk);
      if (received > limitBytes) settle('too-large');
    };
    const onEnd = (): void => {
      settle(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    const onClose = (): void => {
      settle('cut');
    };
    if (message.destroyed) {
      resolve('cut');
      return;
    }
    // An aborted request emits an error besides close; without a listener the error would end the process.
    message.on('error', () => undefined);
    message.on('data', onData).on('end', onEnd).on('close', onClose);
  });
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

function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`))
    .join('; ');
}
