import type { PlatformFailure } from '../domain/failure.ts';
import type { Proxies, Proxy } from './dispatcher.ts';
import { AnswerTooLong, Stalled } from './exchange.ts';

/** What Node and undici tell of a connection that failed. */
interface ConnectionError {
  readonly code?: string;
  readonly message?: string;
  readonly cause?: { readonly code?: string };
  readonly port?: number;
  readonly hostname?: string;
}

/**
 * The failure that an error of the connection stands for. Its message names no whole address, which may hold a signature: where
 * no connection was made, the peer, or the proxy without its password. Throws what is a defect.
 *
 * @param peer - in words, without a secret: "http://127.0.0.1:8787 (platform.baseUrl)".
 */
export function connectionFailure(error: unknown, proxies: Proxies | null, peer: string): PlatformFailure {
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    throw error;
  if (error instanceof Stalled) return { kind: 'transient', message: STALL_WORDS[error.at] };
  if (error instanceof AnswerTooLong) return { kind: 'transient', message: 'the answer is too long' };
  const { code, message, cause } = error as ConnectionError;
  const byProxy = proxyFailure(error as ConnectionError, proxies);
  if (byProxy !== null) return { kind: 'transient', message: byProxy, notCarriedOut: true };
  const name = code ?? cause?.code;
  if (name !== undefined && UNTRUSTED.has(name))
    return unreachable(peer, `its certificate is not trusted (${name})`);
  const words =
    (name === undefined ? undefined : (CONNECTION_WORDS[name] ?? wordsOfParser(name))) ??
    name ??
    message ??
    'connection failed';
  if (name !== undefined && NEVER_CONNECTED.has(name)) return unreachable(peer, words);
  return { kind: 'transient', message: words };
}

/** No connection was made: nothing was sent. */
function unreachable(peer: string, why: string): PlatformFailure {
  return { kind: 'transient', message: `cannot reach ${peer}: ${why}`, notCarriedOut: true };
}

/** What a proxy did, or that it cannot be reached; `null`: the error is not about a proxy. */
function proxyFailure(error: ConnectionError, proxies: Proxies | null): string | null {
  if (proxies === null) return null;
  const { message = '', code = '' } = error;
  // undici says so in words alone, and not of which proxy.
  const refused = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/u.exec(message);
  if (refused !== null) return refusalWords(Number(refused[1] ?? refused[2]), proxies);
  const proxy = [proxies.http, proxies.https].find((one) => one !== null && isAbout(error, one.url));
  if (proxy === null || proxy === undefined || !NEVER_CONNECTED.has(code)) return null;
  return `the proxy ${nameOfProxy(proxy)} is unreachable: ${CONNECTION_WORDS[code] ?? code}`;
}

function refusalWords(status: number, { http, https }: Proxies): string {
  const names = [https, http].filter((one) => one !== null).map(nameOfProxy);
  const name = [...new Set(names)].join(' or ');
  if (status === 407)
    return `the proxy ${name} requires a user and a password (407); add them to its address: http://USER:PASSWORD@HOST:PORT`;
  return `the proxy ${name} refused to connect to the address (${status})`;
}

function isAbout(
  { port, hostname, message = '' }: ConnectionError,
  { hostname: host, port: own, protocol }: URL,
): boolean {
  const proxyPort = own === '' ? (protocol === 'https:' ? 443 : 80) : Number(own);
  if (hostname !== undefined) return hostname === host;
  return port === proxyPort || message.includes(`${host}:${proxyPort}`);
}

/** The address of a proxy, without user and password, and the variable that it is from. */
export function nameOfProxy({ url, variable }: Proxy): string {
  return `${url.protocol}//${url.host} of $${variable}`;
}

/** llhttp, which reads answers, has a code for each way in which one is no HTTP. */
function wordsOfParser(code: string): string | undefined {
  return code.startsWith('HPE_') ? `the answer is not HTTP (${code})` : undefined;
}

const STALL_WORDS = {
  sending: 'no progress within upload.stallTimeout',
  waiting: 'no answer within upload.stallTimeout',
  answering: 'no progress of the answer within upload.stallTimeout',
} as const;

/** Errors of making a connection: with them nothing was sent. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a code of an error is what Node finds wrong with a certificate, before anything is sent. */
export function isAboutCertificate(code: string): boolean {
  return UNTRUSTED.has(code);
}

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
  EHOSTUNREACH: 'no route to the host (EHOSTUNREACH)',
  ENETUNREACH: 'no route to the network (ENETUNREACH)',
  UND_ERR_SOCKET: 'connection lost',
  UND_ERR_INFO: 'connection lost',
  UND_ERR_ABORTED: 'connection lost',
  UND_ERR_CLOSED: 'the connection was closed',
  UND_ERR_DESTROYED: 'the connection was closed',
  ENOTFOUND: 'host name not found (ENOTFOUND)',
  EAI_AGAIN: 'host name could not be looked up (EAI_AGAIN)',
  ETIMEDOUT: 'connection timed out (ETIMEDOUT)',
  EMFILE: 'too many open files (EMFILE); lower upload.concurrency, or raise the limit (ulimit -n)',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer within upload.stallTimeout',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not as long as it says',
  UND_ERR_PRX_TLS: 'no encrypted connection through the proxy',
};
