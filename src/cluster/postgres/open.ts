import type { OpenedLedger, SharedLedgerOptions } from '../shared-ledger.ts';
import { connectionOf } from './connection.ts';
import { Conversations } from './conversations.ts';
import { ClusterDatabase } from './database.ts';
import { Ledger } from './ledger.ts';
import { Membership } from './membership.ts';
import { HostMessages } from './messages.ts';
import { LedgerTables } from './schema.ts';
import { SourceSettings } from './source-settings.ts';

/** Connections of a host: shipments of several units, heartbeats, and queries. */
const CONNECTIONS = 6;

/** Opens a ledger in PostgreSQL without a query yet. */
export function openPostgresLedger(
  address: string,
  { applicationName, schema, patienceMs }: SharedLedgerOptions,
): OpenedLedger {
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
