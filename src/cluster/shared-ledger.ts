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
 * The records that several hosts share: everything that a cluster needs from its database. PostgreSQL has the only
 * implementation; `openSharedLedger` would choose another. Methods throw `DatabaseError`.
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
  /** The connection is encrypted and the server's certificate checked; otherwise the database is on this machine. */
  readonly isEncrypted: boolean;
  readonly close: () => Promise<void>;
}

export interface SharedLedgerOptions {
  /** This host's name in the database's lists of connections. */
  readonly applicationName: string;
  readonly schema: string;
  /** Time after which a statement without an answer fails, milliseconds. */
  readonly patienceMs: number;
}

/** Connections of a host: shipments of several units, heartbeats, and queries. */
const CONNECTIONS = 6;

/** Opens the ledger at an address without a query yet. A problem is a sentence that does not contain the address. */
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
