import { createHash } from 'node:crypto';
import type { ClusterMessages, Pause } from '../shared-ledger.ts';
import type { ClusterDatabase } from './database.ts';

/** The channel for hints, shared by all clusters of a database. */
const HINT_CHANNEL = 'botsync_hint';

/** Enough digits of a digest to distinguish schemas. */
const DIGEST_DIGITS = 32;

/** The longest name of a channel, bytes: NOTIFY refuses a longer one, LISTEN cuts it. */
const LONGEST_CHANNEL = 63;

/** Returns the channel by which hosts of a cluster wake each other. A long name of a schema is replaced by its digest. */
export function channelOf(schema: string): string {
  const channel = `botsync_${schema.replaceAll(/[^a-z0-9_]/gu, '_')}`;
  if (channel.length <= LONGEST_CHANNEL) return channel;
  const digest = createHash('sha256').update(schema).digest('hex');
  return `botsync_${digest.slice(0, DIGEST_DIGITS)}`;
}

/** Messages between the hosts of a cluster. Hosts that are not listening at that moment miss them. */
export class HostMessages implements ClusterMessages {
  readonly #database: Pick<ClusterDatabase, 'sql' | 'listen'>;
  readonly #schema: string;

  constructor(database: Pick<ClusterDatabase, 'sql' | 'listen'>, schema: string) {
    this.#database = database;
    this.#schema = schema;
  }

  /** Makes all hosts send a heartbeat at once; otherwise they learn of a change with their next one. Throws `DatabaseError`. */
  async wake(host: string): Promise<void> {
    await this.#database.sql('SELECT pg_notify($1, $2)', [channelOf(this.#schema), host]);
  }

  /** Listens for `wake` until the signal aborts. */
  onWake(told: (host: string) => void, pause: Pause, until: AbortSignal): Promise<void> {
    return this.#database.listen(channelOf(this.#schema), told, pause, until);
  }

  /** Sends hints, see `encodeHint`. Throws `DatabaseError`. */
  async sendHints(messages: readonly string[]): Promise<void> {
    const text = 'SELECT pg_notify($1, message) FROM unnest($2::text[]) AS message';
    await this.#database.sql(text, [HINT_CHANNEL, messages]);
  }

  /** Listens for hints, of all clusters in the database, until the signal aborts. */
  onHints(told: (message: string) => void, pause: Pause, until: AbortSignal): Promise<void> {
    return this.#database.listen(HINT_CHANNEL, told, pause, until);
  }
}
