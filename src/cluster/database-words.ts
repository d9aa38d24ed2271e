import type { ClientConfig } from 'pg';
import { escapeControls } from '../domain/escape.ts';

/** What a server says is cut after so many characters: a query of a text that it refuses may be in it. */
const LONGEST_WORDS = 300;

/** PostgreSQL's own, where an address names none. */
const USUAL_PORT = 5432;

/**
 * What a database, a pooler or the connection said, for people: on one line, without anything that commands a terminal, of bearable
 * length, and with the host and the port, which most of it leaves out.
 *
 * @param said - without the password.
 */
export function databaseWords(said: string, { host, port }: Pick<ClientConfig, 'host' | 'port'>): string {
  const line = escapeControls(said.replaceAll(/\s+/gu, ' ').trim());
  // No character is cut in half.
  const short =
    line.length > LONGEST_WORDS ? `${line.slice(0, LONGEST_WORDS).replace(/\p{Surrogate}$/u, '')}…` : line;
  const address = addressOf(host ?? 'localhost', port ?? USUAL_PORT);
  return short.includes(address) ? short : `${short} (${address})`;
}

/** As Node.js writes it. */
function addressOf(host: string, port: number): string {
  return host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`;
}
