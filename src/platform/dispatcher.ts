import type { buildConnector, Dispatcher } from 'undici';

/** How connections are made. */
export interface DispatcherSettings {
  /** Most connections to one host at a time. */
  readonly connections: number;
  /** What a proxy takes longer for than this to make a connection is given up, milliseconds. */
  readonly stallTimeoutMs: number;
  /** The proxies to be obeyed; `null`: none. */
  readonly proxies: Proxies | null;
}

/** The proxies that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`). */
export interface Proxies {
  readonly http: Proxy | null;
  readonly https: Proxy | null;
  /** Hosts that are reached without one, as `NO_PROXY` lists them. */
  readonly exceptFor: string;
}

/** A proxy, and where it was named. */
export interface Proxy {
  readonly url: URL;
  readonly variable: string;
}

/** A connection that is not made by then is given up, milliseconds. */
const LONGEST_CONNECT_MS = 10_000;

/** The proxies of the environment; `null`: it names none. Throws when an address is none; the message shows no password. */
export function proxiesOf(environment: NodeJS.ProcessEnv): Proxies | null {
  const http = named(environment, ['http_proxy', 'HTTP_PROXY']);
  const https = named(environment, ['https_proxy', 'HTTPS_PROXY']) ?? http;
  const exceptFor = environment['no_proxy'] ?? environment['NO_PROXY'] ?? '';
  return http === null && https === null ? null : { http, https, exceptFor };
}

function named(environment: NodeJS.ProcessEnv, variables: readonly string[]): Proxy | null {
  const variable = variables.find((name) => environment[name]);
  if (variable === undefined) return null;
  const url = addressOf(environment[variable] ?? '');
  if (url === null)
    throw new Error(
      `$${variable} is not an address; write it as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT`,
    );
  return { url, variable };
}

/** `HOST:PORT` alone is common. Of other protocols than http no proxy is spoken to. */
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

/** undici is loaded when something is sent for the first time: a pass that finds nothing to do never needs it. */
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
    // The environment may change while we run; what we check and tell of is what was read.
    httpProxy: proxies.http?.url.href ?? '',
    httpsProxy: proxies.https?.url.href ?? '',
    noProxy: proxies.exceptFor,
    // A plain request goes to the proxy in absolute form: most proxies tunnel to port 443 alone.
    proxyTunnel: false,
    proxyTls: { timeout },
    requestTls: { timeout },
    clientFactory: (origin, options) =>
      new undici.Pool(origin, { ...options, headersTimeout: stallTimeoutMs }),
  });
}

/** Makes TLS connections over TCP connections that we hold, so that they can be reset. */
function resettable(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    if (options.protocol !== 'https:') {
      connect(options, callback);
      return;
    }
    const tcp = { ...options, protocol: 'http:', port: options.port === '' ? '443' : options.port };
    connect(tcp, (...reached) => {
      const [, raw] = reached;
      // Where it failed there is no second argument, whatever the types say.
      if (!raw) {
        callback(...reached);
        return;
      }
      connect({ ...options, httpSocket: raw }, callback);
    });
  };
}
