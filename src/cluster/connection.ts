import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';

/** A connection, or why there can be none: a sentence that shows nothing of the address. */
export type Connection =
  | { readonly kind: 'ok'; readonly config: ClientConfig }
  | { readonly kind: 'problem'; readonly message: string };

/** The directory of a server's socket on its own machine, which is meant where an address names no host. */
const SOCKETS = '/var/run/postgresql';

/** Up to a host that is empty: URLs allow that only without a user and a port, PostgreSQL always. */
const EMPTY_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[:/?#]|$)/u;

/** Ways of libpq to ask for encryption that leave out who is at the other end. */
const UNVERIFIED = new Set(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'no-verify']);

/**
 * Reads an address like `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslrootcert=FILE`. What leaves this machine is encrypted, and
 * the server's certificate has to be for its name.
 */
export function connectionOf(address: string, applicationName: string): Connection {
  const named = address.replace(EMPTY_HOST, `$1${encodeURIComponent(SOCKETS)}`);
  if (!/^postgres(?:ql)?:\/\//u.test(named) || !URL.canParse(named))
    return problem(
      'is not an address of PostgreSQL; write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    );
  const url = new URL(named);
  const params = url.searchParams;
  const host = decoded(params.get('host') ?? url.hostname);
  const database = databaseIn(url);
  const port = params.get('port') ?? url.port;
  if (typeof database !== 'string') return database;
  if (host === null) return problem('has a "%" in its host that encodes nothing; write it as %25');
  const mode = params.get('sslmode');
  const isLocal = host === '' || host.startsWith('/') || LOOPBACK.has(host);
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === null || password === null)
    return problem('has a "%" in its user or password that encodes nothing; write it as %25');
  const base: ClientConfig = {
    host: host === '' ? '/var/run/postgresql' : host.replace(/^\[|\]$/gu, ''),
    ...(port !== '' && { port: Number(port) }),
    database,
    ...(user !== '' && { user }),
    ...(password !== '' && { password }),
    application_name: applicationName,
  };
  if (isLocal && mode !== 'verify-full') return { kind: 'ok', config: { ...base, ssl: false } };
  if (mode !== null && UNVERIFIED.has(mode))
    return problem(
      `asks for sslmode=${mode}, which does not check the server; remove it, or write verify-full`,
    );
  return withCertificates(base, params);
}

/** The name of the database in an address, or what is wrong with it. */
function databaseIn({ pathname }: URL): string | Connection {
  // The server would say the name, with the rest of the password in it.
  if (pathname.includes('@'))
    return problem(
      'has a "/" in its user or password, or a "@" in the name of its database; write them as %2F and %40',
    );
  const database = decoded(pathname.slice(1));
  return database === null || database === ''
    ? problem('names no database; write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE')
    : database;
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

function problem(message: string): Connection {
  return { kind: 'problem', message };
}
