import type { ClientConfig } from 'pg';
import { escapeControls } from '../../domain/escape.ts';

/** The longest message of a server, characters: it may repeat a large refused statement. */
const LONGEST_WORDS = 300;

const USUAL_PORT = 5432;

/**
 * Formats a message of a database, a pooler or the connection: on one line, without control characters, shortened, and with the host
 * and port, which most messages leave out.
 *
 * @param said - without the password.
 */
export function databaseWords(said: string, { host, port }: Pick<ClientConfig, 'host' | 'port'>): string {
  const line = escapeControls(said.replaceAll(/\s+/gu, ' ').trim());
  // Remove half of a surrogate pair.
  const short =
    line.length > LONGEST_WORDS ? `${line.slice(0, LONGEST_WORDS).replace(/\p{Surrogate}$/u, '')}…` : line;
  const address = addressOf(host ?? 'localhost', port ?? USUAL_PORT);
  return short.includes(address) ? short : `${short} (${address})`;
}

/** As Node.js writes addresses. */
function addressOf(host: string, port: number): string {
  return host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`;
}
