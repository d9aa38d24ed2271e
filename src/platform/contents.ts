import { createHash } from 'node:crypto';
import { failed, ok, type Outcome, type PlatformFailure } from '../domain/failure.ts';
import type { Http } from './http.ts';

/** The contents of files, where their addresses lead. Every request is sent once, and waits for those of files. */
export class PlatformContents {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Reads what stands at an address, without keeping it, and gives its SHA-256. The address may be signed: it is a
   * secret that no failure repeats, and nothing else of ours goes with it.
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
    // An address that is too old is asked for again with the next attempt.
    return status === 403 || status === 404 || status === 429 || status >= 500
      ? failed({ kind: 'transient', message })
      : refused(message);
  }
}
