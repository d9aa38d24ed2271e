import type { PlatformFailure } from '../domain/failure.ts';
import { retryAfterMs, type ResponseHeaders } from './rate-limit.ts';

/** A response that was read whole, the body at most `LARGEST_ANSWER_BYTES`. */
export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** Longest part of a platform's own words that goes into a message. */
const LONGEST_QUOTE = 300;

/**
 * The failure that an answer of the platform stands for (interface.md, Errors; platform-facts.md, Errors).
 *
 * Both shapes of error bodies are understood, and one that is no JSON at all.
 *
 * @param notFound - what 404 means for this operation.
 * @param redact - takes secrets out of the platform's words, before they are cut to length.
 */
export function failureOf(
  answer: Answer,
  nowMs: number,
  notFound: 'bot-unknown' | 'refused',
  redact: (words: string) => string = (words) => words,
): PlatformFailure {
  const { status, headers } = answer;
  const { type, message: said } = readError(answer.text, redact);
  const message = `${status}${type === null ? '' : ` ${type}`}${said === null ? '' : `: ${said}`}`;
  if (status === 401) return { kind: 'credentials', scope: 'all', message };
  if (status === 402 || type === 'QuotaExceeded') return { kind: 'quota', message };
  if (status === 403 || (status === 404 && notFound === 'bot-unknown'))
    return { kind: 'credentials', scope: 'bot', message };
  if (isTransient(status, type)) {
    const askedMs = retryAfterMs(headers, nowMs);
    return {
      kind: 'transient',
      message,
      ...(askedMs !== null && { retryAfterMs: askedMs }),
      ...(status === 429 && { notCarriedOut: true }),
      ...((status === 409 || status === 429) && { answered: true }),
    };
  }
  if (status >= 300 && status < 400) return redirected(answer);
  if (status >= 200 && status < 300)
    return { kind: 'transient', message: `${status} with an answer that makes no sense` };
  return { kind: 'refused', message };
}

/** Redirects are never followed: they would carry the credentials elsewhere. */
export function redirected({ status, headers }: Pick<Answer, 'status' | 'headers'>): PlatformFailure {
  const location = headers['location'];
  const host =
    typeof location === 'string' && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return {
    kind: 'transient',
    message: `${status}: redirected${host}, which is not followed; check the address in the config`,
  };
}

/**
 * The failure that an error of the connection stands for. Its message names no address: those may hold a signature.
 * Throws what is no error of the connection but a defect.
 */
export function connectionFailure(error: unknown): PlatformFailure {
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    throw error;
  const { code, message, cause } = error as { code?: string; message?: string; cause?: { code?: string } };
  const name = code ?? cause?.code;
  if (name !== undefined && UNTRUSTED.has(name))
    return { kind: 'transient', message: `the certificate is not trusted (${name})`, notCarriedOut: true };
  const words = name === undefined ? undefined : CONNECTION_WORDS[name];
  return {
    kind: 'transient',
    message: words ?? name ?? message ?? 'connection failed',
    ...(name !== undefined && NEVER_CONNECTED.has(name) && { notCarriedOut: true }),
  };
}

/** Errors of making a connection: with them nothing was sent. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** What Node finds wrong with certificates, before anything is sent. */
const UNTRUSTED = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const CONNECTION_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused (ECONNREFUSED)',
  ECONNRESET: 'connection lost (ECONNRESET)',
  EPIPE: 'connection lost (EPIPE)',
  UND_ERR_SOCKET: 'connection lost',
  ENOTFOUND: 'host name not found (ENOTFOUND)',
  EAI_AGAIN: 'host name could not be looked up (EAI_AGAIN)',
  ETIMEDOUT: 'connection timed out (ETIMEDOUT)',
  EMFILE: 'too many open files (EMFILE); lower upload.concurrency, or raise the limit (ulimit -n)',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer within upload.stallTimeout',
  UND_ERR_BODY_TIMEOUT: 'the answer stood still for upload.stallTimeout',
};

function isTransient(status: number, type: string | null): boolean {
  if (status === 409) return type !== 'AlreadyExists' && type !== 'RelationConflict';
  return status === 408 || status === 429 || status >= 500;
}

function readError(
  text: string,
  redact: (words: string) => string,
): { type: string | null; message: string | null } {
  try {
    const { type, message, description } = JSON.parse(text) as Record<string, unknown>;
    const words = (said: unknown): string | null => quote(typeof said === 'string' ? redact(said) : null);
    return { type: words(type), message: words(message) ?? words(description) };
  } catch {
    return { type: null, message: null };
  }
}

/** A platform's words, on one line and of bearable length. */
function quote(said: unknown): string | null {
  if (typeof said !== 'string' || said === '') return null;

  const line = said
    .replace(/[\u0000-\u001f\u007f-\u009f]+/gu, ' ')
    // A signed address is a secret: what stands after its "?" or before its "@" is not repeated.
    .replace(/(\bhttps?:\/\/)(?:[^\s/?#"'<>]*@)?([^\s?"'<>]*)(?:\?[^\s"'<>]*)?/giu, '$1$2');
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}
