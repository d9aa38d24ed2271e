import { isAboutCertificate, type PlatformFailure } from '../domain/failure.ts';
import type { Proxies, Proxy } from './dispatcher.ts';
import { AnswerTooLong, Stalled } from './exchange.ts';

/** The fields of errors of Node and undici. */
interface ConnectionError {
  readonly code?: string;
  readonly message?: string;
  readonly cause?: { readonly code?: string };
  readonly port?: number;
  readonly hostname?: string;
}

/** The server of a request, and the field of the configuration with its address; `null`: the platform gave the address. */
interface Peer {
  readonly url: URL;
  readonly field: string | null;
}

/**
 * Returns the failure that an error of the connection means. Its message contains no whole URL, which may contain a
 * signature; if no connection was made, it names the peer, or the proxy without its password. Rethrows defects.
 */
export function connectionFailure(error: unknown, proxies: Proxies | null, peer: Peer): PlatformFailure {
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    throw error;
  if (error instanceof Stalled) return { kind: 'transient', message: STALL_WORDS[error.at] };
  if (error instanceof AnswerTooLong) return { kind: 'transient', message: 'the answer is too long' };
  const { code, message, cause } = error as ConnectionError;
  const byProxy = proxyFailure(error as ConnectionError, proxies);
  if (byProxy !== null) return { kind: 'transient', message: byProxy, notCarriedOut: true };
  const name = code ?? cause?.code;
  if (name !== undefined && isAboutCertificate(name))
    return unreachable(peer, `its certificate is not trusted (${name})`, 'untrusted');
  const words =
    (name === undefined ? undefined : (CONNECTION_WORDS[name] ?? wordsOfParser(name))) ??
    name ??
    message ??
    'connection failed';
  if (name !== undefined && NEVER_CONNECTED.has(name))
    return unreachable(peer, words, LOCAL_HOST.test(peer.url.hostname) ? 'local' : 'remote');
  return { kind: 'transient', message: words };
}

/** The failure of a request that was not sent because no connection was made. The address of the store is a secret: only its origin is named. */
function unreachable(
  { url, field }: Peer,
  why: string,
  noConnection: 'untrusted' | 'local' | 'remote',
): PlatformFailure {
  const name = field === null ? `the store at ${url.origin}` : `${url.origin} (${field})`;
  return { kind: 'transient', message: `cannot reach ${name}: ${why}`, notCarriedOut: true, noConnection };
}

const LOCAL_HOST = /^(?:localhost|127\..*|\[::1\])$/u;

/** Returns how a proxy failed; `null` if the error is not about a proxy. */
function proxyFailure(error: ConnectionError, proxies: Proxies | null): string | null {
  if (proxies === null) return null;
  const { message = '', code = '' } = error;
  // undici reports this only in the message, and not which proxy it was.
  const refused = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/u.exec(message);
  if (refused !== null) return refusalWords(Number(refused[1] ?? refused[2]), proxies);
  const proxy = [proxies.http, proxies.https].find((one) => one !== null && isAbout(error, one.url));
  if (proxy === null || proxy === undefined || !NEVER_CONNECTED.has(code)) return null;
  return `the proxy ${nameOfProxy(proxy)} is unreachable: ${CONNECTION_WORDS[code] ?? code}`;
}

function refusalWords(status: number, { http, https }: Proxies): string {
  const names = [https, http].filter((one) => one !== null).map(nameOfProxy);
  const name = [...new Set(names)].join(' or ');
  // Some proxies answer 401 instead of 407.
  if (status === 401 || status === 407)
    return [https, http].some((proxy) => proxy !== null && proxy.url.username !== '')
      ? `the proxy ${name} refused the user and the password of its address (${status}); correct them`
      : `the proxy ${name} requires a user and a password (${status}); add them to its address: http://USER:PASSWORD@HOST:PORT`;
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

/** Returns the address of a proxy, without user and password, and the variable that contains it. */
export function nameOfProxy({ url, variable }: Proxy): string {
  return `${url.protocol}//${url.host} of $${variable}`;
}

/** llhttp, the parser of answers, has a code for each violation of HTTP. */
function wordsOfParser(code: string): string | undefined {
  return code.startsWith('HPE_') ? `the answer is not HTTP (${code})` : undefined;
}

const STALL_WORDS = {
  sending: 'no progress within upload.stallTimeout',
  waiting: 'no answer within upload.stallTimeout',
  answering: 'no progress of the answer within upload.stallTimeout',
} as const;

/** Errors while connecting: nothing was sent. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
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
