import { connectionOf } from './connection.ts';
import { Conversations } from './conversations.ts';
import { ClusterDatabase } from './database.ts';
import { HostMessages } from './hints.ts';
import { Ledger } from './ledger.ts';
import { Membership } from './membership.ts';
import { LedgerTables } from './schema.ts';
import { SourceSettings } from './source-settings.ts';

/** The public methods of a class: another implementation need not share its private parts. */
type Methods<T> = Pick<T, keyof T>;

/**
 * The records that several hosts share: all that a cluster needs of its database. PostgreSQL has the only implementation;
 * another one implements this and is chosen by `openSharedLedger`. Methods throw `DatabaseError`.
 */
export interface SharedLedger {
  /** The rows of units: `ship` is the fence. */
  readonly ledger: Methods<Ledger>;
  /** Hosts, leases and commands between hosts. */
  readonly membership: Methods<Membership>;
  readonly conversations: Methods<Conversations>;
  readonly sourceSettings: Methods<SourceSettings>;
  readonly tables: Methods<LedgerTables>;
  readonly messages: Methods<HostMessages>;
  /** Facts about the database itself, for `botsync doctor`. */
  readonly database: Pick<ClusterDatabase, 'health' | 'nowMs'>;
  /** Whether the connection is encrypted and the server's certificate checked; otherwise the database is on this machine. */
  readonly isEncrypted: boolean;
  readonly close: () => Promise<void>;
}

export interface SharedLedgerOptions {
  /** How this host is called in the database's own lists of connections. */
  readonly applicationName: string;
  readonly schema: string;
  /** A statement is given up after so long without an answer, milliseconds. */
  readonly patienceMs: number;
}

/** Connections of a host: shipments of several units, beats, and questions beside them. */
const CONNECTIONS = 6;

/** Opens the ledger at an address; nothing is asked of it yet. A problem is a sentence that shows nothing of the address. */
export function openSharedLedger(
  address: string,
  { applicationName, schema, patienceMs }: SharedLedgerOptions,
):
  | { readonly kind: 'ok'; readonly ledger: SharedLedger }
  | { readonly kind: 'problem'; readonly message: string } {
  const connection = connectionOf(address, applicationName);
  if (connection.kind === 'problem') return connection;
  const { config } = connection;
  const database = new ClusterDatabase({ connection: config, patienceMs, connections: CONNECTIONS });
  return {
    kind: 'ok',
    ledger: {
      ledger: new Ledger(database.sql, schema),
      membership: new Membership(database.sql, schema),
      conversations: new Conversations(database.sql, schema),
      sourceSettings: new SourceSettings(database.sql, schema),
      tables: new LedgerTables(database.sql, schema),
      messages: new HostMessages(database, schema),
      database,
      isEncrypted: config.ssl !== false,
      close: () => database.close(),
    },
  };
}
