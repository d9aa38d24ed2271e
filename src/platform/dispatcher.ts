import { isIPv6 } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';

export interface DispatcherSettings {
  /** Maximum of concurrent connections to one host. */
  readonly connections: number;
  /** The time for a proxy to make a connection, milliseconds. */
  readonly stallTimeoutMs: number;
  /** `null`: no proxy is used. */
  readonly proxies: Proxies | null;
}

/** The proxies that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`). */
export interface Proxies {
  readonly http: Proxy | null;
  readonly https: Proxy | null;
  /** Hosts that are reached directly, in the syntax of `NO_PROXY`. */
  readonly exceptFor: string;
}

/** A proxy, and the environment variable that names it. */
export interface Proxy {
  readonly url: URL;
  readonly variable: string;
}

/** The longest time for making a connection. */
const LONGEST_CONNECT_MS = 10_000;

/**
 * Returns the proxies of the environment; `null` if it names none. Throws if an address is invalid; the message
 * contains no password.
 */
export function proxiesOf(environment: NodeJS.ProcessEnv): Proxies | null {
  const http = named(environment, ['http_proxy', 'HTTP_PROXY']);
  const https = named(environment, ['https_proxy', 'HTTPS_PROXY']) ?? http;
  const exceptFor = valueOf(environment, ['no_proxy', 'NO_PROXY'])?.value ?? '';
  return http === null && https === null ? null : { http, https, exceptFor: withBrackets(exceptFor) };
}

/** Returns the first variable that is set and not empty. */
function valueOf(
  environment: NodeJS.ProcessEnv,
  variables: readonly string[],
): { readonly variable: string; readonly value: string } | null {
  for (const variable of variables) {
    const value = environment[variable];
    if (value) return { variable, value };
  }
  return null;
}

/** Puts IPv6 addresses into brackets: without them undici takes the last group for a port. */
function withBrackets(hosts: string): string {
  const one = (host: string): string => (isIPv6(host) ? `[${host}]` : host);
  return hosts
    .split(/[,\s]+/u)
    .map(one)
    .join(',');
}

function named(environment: NodeJS.ProcessEnv, variables: readonly string[]): Proxy | null {
  const found = valueOf(environment, variables);
  if (found === null) return null;
  const { variable, value } = found;
  const url = addressOf(value);
  if (url === null)
    throw new Error(
      `$${variable} is not an address; write it as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT`,
    );
  return { url, variable };
}

/** Parses the address of a proxy; `HOST:PORT` alone is common. Only http and https are supported. */
function addressOf(text: string): URL | null {
  const address = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return null;
  }
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
}

/** Creates the connection pool. Loads undici on the first request: a pass that finds nothing to do never needs it. */
export async function createDispatcher({
  connections,
  stallTimeoutMs,
  proxies,
}: DispatcherSettings): Promise<Dispatcher> {
  const undici = (await import('undici')).default;
  const timeout = Math.min(stallTimeoutMs, LONGEST_CONNECT_MS);
  const connect = resettable(undici.buildConnector({ timeout }));
  if (proxies === null) return new undici.Agent({ connections, connect });
  return new undici.EnvHttpProxyAgent({
    connections,
    connect,
    // Passed explicitly, because the environment may change after it was read and checked.
    httpProxy: proxies.http?.url.href ?? '',
    httpsProxy: proxies.https?.url.href ?? '',
    noProxy: proxies.exceptFor,
    // Plain http goes to the proxy in absolute form, because most proxies tunnel only to port 443.
    proxyTunnel: false,
    proxyTls: { timeout },
    requestTls: { timeout },
    clientFactory: (origin, options) =>
      new undici.Pool(origin, { ...options, headersTimeout: stallTimeoutMs }),
  });
}

/** Makes TLS connections over TCP connections of our own, so that they can be reset. */
function resettable(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    if (options.protocol !== 'https:') {
      connect(options, callback);
      return;
    }
    const tcp = { ...options, protocol: 'http:', port: options.port === '' ? '443' : options.port };
    connect(tcp, (...reached) => {
      const [, raw] = reached;
      // On failure there is no second argument, although the type says so.
      if (!raw) {
        callback(...reached);
        return;
      }
      connect({ ...options, httpSocket: raw }, callback);
    });
  };
}
