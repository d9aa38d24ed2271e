import { failed, ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import type { UpsertBody } from '../domain/limits.ts';
import type { FilePlatform, OutgoingContent, UploadAddress, UpsertedFile } from '../domain/file-catalog.ts';
import { Api, botHeaders, isSuccess, tokensOf, type Caller } from './api.ts';
import { redirected, type Answer } from './failures.ts';
import type { Http } from './http.ts';
import { contentBody } from './open-body.ts';
import { retryAfterMs } from './rate-limit.ts';
import { createHash } from 'node:crypto';

/** The platform's file storage: upserts, and uploads to the store. */
export class PlatformFiles implements FilePlatform {
  readonly #api: Api;
  readonly #http: Http;
  readonly #filesUrl: URL;
  readonly #caller: Caller;

  /** @param baseUrl - without a trailing slash. */
  constructor(http: Http, baseUrl: string, caller: Caller) {
    this.#http = http;
    this.#filesUrl = new URL(`${baseUrl}/v1/files`);
    this.#caller = caller;
    this.#api = new Api(http, tokensOf(caller));
  }

  /**
   * Creates or updates a file's entry; its content is erased until it is uploaded (interface.md, Create or update a
   * file). 404 means that the bot is unknown. Fails if the platform uses https but the upload address does not.
   */
  async upsert(botId: string, body: UpsertBody, signal: AbortSignal): Promise<Outcome<UpsertedFile>> {
    const answered = await this.#api.exchange(
      {
        method: 'PUT',
        url: this.#filesUrl,
        headers: { ...botHeaders(this.#caller, botId), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      signal,
    );
    if (answered.kind === 'failed') return answered;
    const answer = answered.value;
    const file = isSuccess(answer) ? readUpserted(answer.text, body.contentType) : null;
    if (file === null) return failed(this.#api.failureOf(answer, 'bot-unknown'));
    // Otherwise the content would be sent unencrypted, and a server that poses as the platform could direct it to any
    // service within reach (docs/decisions/0016-upload-addresses.md).
    if (this.#filesUrl.protocol === 'https:' && file.uploadUrl.protocol !== 'https:') {
      const message =
        'the upload address begins with "http:", although the platform uses "https:"; nothing was sent';
      return failed({ kind: 'transient', message });
    }
    return ok(file);
  }

  /**
   * Sends a file's content to its upload address (platform-facts.md, The upload): always with a length, never with
   * authorization or identity headers, with `x-amz-tagging` exactly if `publicAtOnce`. Never fails with `credentials`:
   * what the address does not accept needs a new upsert.
   */
  async upload(
    address: UploadAddress,
    content: OutgoingContent,
    publicAtOnce: boolean,
    signal: AbortSignal,
  ): Promise<Outcome<null>> {
    const body = contentBody(content, this.#http.pacer, this.#http.throughput, this.#http.fence, signal);
    const headers = { 'content-type': address.contentType, 'content-length': String(body.sizeBytes) };
    const answered = await this.#http.send(
      {
        to: 'store',
        addressField: null,
        method: 'PUT',
        url: address.uploadUrl,
        headers: publicAtOnce ? { ...headers, 'x-amz-tagging': 'public=true' } : headers,
        body,
      },
      signal,
    );
    if (answered.kind === 'failed') return answered;
    if (!isSuccess(answered.value)) return failed(this.#storeFailure(answered.value));
    // A server that answers before it has read everything cannot have stored everything.
    if (body.sentBytes === body.sizeBytes) return ok(null);
    return failed({ kind: 'transient', message: 'the store answered before it had every byte' });
  }

  /** The platform's time, epoch milliseconds; our own until the platform has answered. */
  now(): number {
    return this.#api.now();
  }

  /** True if the platform has reported its time. */
  isTimeKnown(): boolean {
    return this.#api.isTimeKnown();
  }

  /** The recent rate at which the store accepts content, over all uploads; `null`: unknown. */
  storeBytesPerSecond(): number | null {
    return this.#http.throughput.perSecond(RATE_SECONDS);
  }

  #storeFailure(answer: Answer): PlatformFailure {
    const { status, text, headers } = answer;
    if (status >= 300 && status < 400) return redirected(answer);
    // A code consists of letters. Anything else may be part of the address, which is a secret.
    const said = /<Code>([A-Za-z]{1,100})<\/Code>/u.exec(text)?.[1];
    const message = `the upload address answered ${status}${said === undefined ? '' : ` ${said}`}`;
    if (status < 500 && !NEW_ADDRESS_NEEDED.has(status)) return { kind: 'refused', message };
    const askedMs = retryAfterMs(status, headers, this.now());
    const answered = status < 500 && status !== 408 ? { answered: true as const } : {};
    if (askedMs === null) return { kind: 'transient', message, ...answered };
    if (status === 429 || status === 503) this.#http.pacer.pause(askedMs);
    return { kind: 'transient', message, retryAfterMs: askedMs, ...answered };
  }
}

/** The rate of the store is measured over this many seconds with uploads: few, to notice soon when it rises. */
const RATE_SECONDS = 5;

/** Statuses of the store that may go away: with a new address (401, 403, 404, 410), or with time. */
const NEW_ADDRESS_NEEDED = new Set([401, 403, 404, 408, 409, 410, 429]);

function readUpserted(text: string, sentContentType: string): UpsertedFile | null {
  try {
    const { file } = JSON.parse(text) as {
      file?: { id?: unknown; uploadUrl?: unknown; contentType?: unknown; url?: unknown };
    };
    if (typeof file?.uploadUrl !== 'string') return null;
    const uploadUrl = new URL(file.uploadUrl);
    if (!isWeb(uploadUrl)) return null;
    return {
      id: typeof file.id === 'string' && file.id !== '' ? file.id : null,
      uploadUrl,
      contentType: typeof file.contentType === 'string' ? file.contentType : sentContentType,
      url:
        typeof file.url === 'string' && WEB_ADDRESS.test(file.url) && URL.canParse(file.url)
          ? file.url
          : null,
    };
  } catch {
    return null;
  }
}

const WEB_ADDRESS = /^https?:/iu;

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

/** Reads the contents of files at their addresses. Every request is sent once, and yields to requests for files. */
export class PlatformContents {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Reads the content at an address without keeping it, and returns its SHA-256. The address may be signed: no failure
   * repeats it, and no header of ours is sent.
   */
  async digestOf(address: string, signal: AbortSignal): Promise<Outcome<Buffer>> {
    const refused = (message: string): { readonly kind: 'failed'; readonly failure: PlatformFailure } =>
      failed({ kind: 'refused', message });
    if (!URL.canParse(address)) return refused('the address of the content is invalid');
    const url = new URL(address);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return refused(`the address of the content has the protocol ${url.protocol}`);
    const hash = createHash('sha256');
    const read = await this.#http.download(url, (chunk) => hash.update(chunk), signal);
    if (read.kind === 'failed') return read;
    const status = read.value;
    if (status >= 200 && status < 300) return ok(hash.digest());
    const message = `the content could not be read (${status})`;
    // The next attempt gets a new address.
    return status === 403 || status === 404 || status === 429 || status >= 500
      ? failed({ kind: 'transient', message })
      : refused(message);
  }
}
