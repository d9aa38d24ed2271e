import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';

/** A problem is a sentence that does not contain the address. */
export type Connection = { readonly kind: 'ok'; readonly config: ClientConfig } | Problem;

interface Problem {
  readonly kind: 'problem';
  readonly message: string;
}

/** The directory of the server's socket on this machine, used when an address has no host. */
const SOCKETS = '/var/run/postgresql';

/** The part before an empty host: PostgreSQL always allows one, URLs only without user and port. */
const EMPTY_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[:/?#]|$)/u;

const FORM = 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE';

const PARAMETERS = ['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Values of libpq that do not check the server's certificate and name. */
const UNVERIFIED = new Set(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'no-verify']);

/**
 * Parses an address like `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslrootcert=FILE`. A connection to another machine is always
 * encrypted, one on this machine if a parameter begins with "ssl", except sslmode=disable. The server's certificate must be for its name.
 */
export function connectionOf(address: string, applicationName: string): Connection {
  const named = address.replace(EMPTY_HOST, `$1${encodeURIComponent(SOCKETS)}`);
  const fault = faultIn(named);
  if (fault !== null) return problem(fault);
  const url = new URL(named);
  const params = url.searchParams;
  const place = placeIn(url);
  if (place.kind === 'problem') return place;
  const { host, port, database } = place;
  const mode = params.get('sslmode');
  const isLocal = host === '' || host.startsWith('/') || LOOPBACK.has(host);
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === null || password === null)
    return problem('has a "%" in its user or password that encodes nothing; write it as %25');
  const base: ClientConfig = {
    host: host === '' ? SOCKETS : host.replace(/^\[|\]$/gu, ''),
    ...(port !== '' && { port: Number(port) }),
    database,
    ...(user !== '' && { user }),
    ...(password !== '' && { password }),
    application_name: applicationName,
  };
  if (mode !== null && mode !== 'verify-full' && !UNVERIFIED.has(mode))
    return problem('asks for an sslmode that PostgreSQL does not have; remove it, or write verify-full');
  if (isLocal && !asksForTls(params)) return { kind: 'ok', config: { ...base, ssl: false } };
  if (host === '' || host.startsWith('/'))
    return problem(
      'asks for encryption on a socket, which has none; remove its parameters that begin with "ssl"',
    );
  if (mode !== null && UNVERIFIED.has(mode))
    return problem(
      `asks for sslmode=${mode}, which does not check the server; remove it, or write verify-full`,
    );
  return withCertificates(base, params);
}

function asksForTls(params: URLSearchParams): boolean {
  return params.get('sslmode') !== 'disable' && [...params.keys()].some((name) => name.startsWith('ssl'));
}

/** Returns host, port and database of an address. `host` and `port` may be empty. */
function placeIn(
  url: URL,
):
  { readonly kind: 'ok'; readonly host: string; readonly port: string; readonly database: string } | Problem {
  const params = url.searchParams;
  const host = decoded(params.get('host') ?? url.hostname);
  const port = params.get('port') ?? url.port;
  const database = databaseIn(url);
  if (typeof database !== 'string') return database;
  const strange = [...params.keys()].find((name) => !PARAMETERS.includes(name));
  if (strange !== undefined) return problem(describeStrange(strange));
  if (host === null) return problem('has a "%" in its host that encodes nothing; write it as %25');
  if (host.includes(',')) return problem(SEVERAL_HOSTS);
  return port !== '' && !isPort(port) ? problem(NO_PORT) : { kind: 'ok', host, port, database };
}

const SEVERAL_HOSTS = 'names several hosts; name one, such as that of a proxy which finds the primary';

const NO_PORT = 'has a port that does not exist; write a number up to 65535';

/** Returns the error in the form of an address; `null`: `URL` can parse it. */
function faultIn(text: string): string | null {
  const [, authority, rest] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/su.exec(text) ?? [];
  if (authority === undefined || rest === undefined)
    return `is not an address of PostgreSQL; write it as ${FORM}`;
  if (rest.includes('#')) return 'has a "#" in its user, its password or elsewhere; write it as %23';
  // A character that ends the host of a URL also ends it within a password.
  if (!authority.includes('@') && rest.includes('@'))
    return `has a "${rest.charAt(0)}" in its user or password; write it as ${encodeURIComponent(rest.charAt(0))}`;
  const place = authority.slice(authority.lastIndexOf('@') + 1);
  if (place.includes(',')) return SEVERAL_HOSTS;
  const [, port] = /:([^:\]]*)$/u.exec(place) ?? [];
  if (port !== undefined && port !== '' && !isPort(port)) return NO_PORT;
  return URL.canParse(text) ? null : `is not an address of PostgreSQL; write it as ${FORM}`;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/u.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

/** Describes an unknown parameter. Its name is shown only if it cannot be part of a password. */
function describeStrange(name: string): string {
  const which = /^[a-z_]{1,30}$/u.test(name) ? `the parameter "${name}"` : 'a parameter';
  return `has ${which} that botsync does not take; remove it; it takes ${PARAMETERS.join(', ')}`;
}

function databaseIn({ pathname }: URL): string | Problem {
  // The server would repeat the name, with the rest of the password in it.
  if (pathname.includes('@'))
    return problem(
      'has a "/" in its user or password, or a "@" in the name of its database; write them as %2F and %40',
    );
  const database = decoded(pathname.slice(1));
  return database === null || database === '' ? problem(`names no database; write it as ${FORM}`) : database;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function withCertificates(base: ClientConfig, params: URLSearchParams): Connection {
  const files = { ca: params.get('sslrootcert'), cert: params.get('sslcert'), key: params.get('sslkey') };
  const read: Record<string, string> = {};
  for (const [name, file] of Object.entries(files)) {
    if (file === null) continue;
    try {
      read[name] = readFileSync(file, 'utf8');
    } catch (error) {
      return problem(
        `names ${file}, which cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`,
      );
    }
  }
  return { kind: 'ok', config: { ...base, ssl: { ...read, rejectUnauthorized: true } } };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function problem(message: string): Problem {
  return { kind: 'problem', message };
}
