import type { ClusterConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { resolveSecret } from '../../config/secrets.ts';
import { connectionOf } from '../../cluster/connection.ts';
import { ClusterDatabase, DatabaseError, type Sql } from '../../cluster/database.ts';
import { Ledger } from '../../cluster/ledger.ts';
import { Membership } from '../../cluster/membership.ts';
import { LEDGER_VERSION, quoted } from '../../cluster/schema.ts';
import type { SecretReference } from '../../config/config.ts';
import { isAboutCertificate } from '../../platform/connection-failure.ts';
import { STATE_VERSION } from '../../state/schema.ts';
import { partsOf, SyncError } from '../sync-error.ts';

/** So many connections a host has to the database: shipments of several units, beats, and questions beside them. */
const CONNECTIONS = 6;

/** A statement is given up after this part of the lease: it is sent again before anything has to be broken off. */
const PATIENCE_PART = 1 / 3;

/** The way to the ledger of a cluster. */
export interface Cluster {
  readonly config: ClusterConfig;
  readonly database: ClusterDatabase;
  readonly ledger: Ledger;
  readonly membership: Membership;
  /** Whether what is said is encrypted, and the server's certificate checked: else it is on this machine. */
  readonly isEncrypted: boolean;
  readonly close: () => Promise<void>;
}

/** What the ledger is, as its tables say. */
export type LedgerStanding =
  { readonly kind: 'ready' } | { readonly kind: 'none' | 'older' | 'newer'; readonly version: number };

/** Where the address of the database is, if not where the configuration says, and what that is called in messages. */
export interface OtherAddress {
  readonly reference: SecretReference;
  readonly place: string;
}

/**
 * Opens the way to the ledger; nothing is asked of it yet. Throws `SyncError` where the configuration does not say how it is
 * reached.
 */
export function openCluster(
  loaded: LoadedConfig,
  config: ClusterConfig,
  env: NodeJS.ProcessEnv,
  other: OtherAddress | null = null,
): Cluster {
  const place = other?.place ?? `${loaded.file}: cluster.database`;
  const found = resolveSecret(other?.reference ?? config.database, env);
  const connection =
    found.kind === 'ok'
      ? connectionOf(found.value, `botsync ${config.host}`)
      : { kind: 'problem' as const, message: found.message };
  if (found.kind === 'problem' || connection.kind === 'problem') {
    const { message } = connection as { message: string };
    throw new SyncError('configuration', { place, ...partsOf(message), message: `${place}: ${message}` });
  }
  const database = new ClusterDatabase({
    connection: connection.config,
    patienceMs: patienceMs(config),
    connections: CONNECTIONS,
  });
  return {
    config,
    database,
    ledger: new Ledger(database.sql, config.schema),
    membership: new Membership(database.sql, config.schema),
    isEncrypted: connection.config.ssl !== false,
    close: () => database.close(),
  };
}

/** How long an answer of the database is waited for, milliseconds. */
export function patienceMs({ leaseMs }: Pick<ClusterConfig, 'leaseMs'>): number {
  return Math.round(leaseMs * PATIENCE_PART);
}

/** Whether the ledger is one that this version works with. Throws `DatabaseError`. */
export async function standingOfLedger(sql: Sql, schema: string): Promise<LedgerStanding> {
  const [known] = await sql('SELECT to_regclass($1) AS meta', [`${quoted(schema)}.meta`]);
  if (known?.['meta'] === null) return { kind: 'none', version: 0 };
  const [row] = await sql(`SELECT version, state_version FROM ${quoted(schema)}.meta`);
  if (row === undefined) return { kind: 'none', version: 0 };
  const [version, stateVersion] = [Number(row['version']), Number(row['state_version'])];
  if (version > LEDGER_VERSION || stateVersion > STATE_VERSION) return { kind: 'newer', version };
  return version < LEDGER_VERSION || stateVersion < STATE_VERSION
    ? { kind: 'older', version }
    : { kind: 'ready' };
}

/** Makes sure that the ledger is one that this version works with. Throws `SyncError`. */
export async function demandLedger({ database, config }: Cluster): Promise<void> {
  const place = `the schema "${config.schema}" of the database`;
  const standing = await asked(() => standingOfLedger(database.sql, config.schema), config);
  switch (standing.kind) {
    case 'ready':
      return;
    case 'none':
      throw new SyncError('configuration', {
        place,
        reason: 'holds no ledger',
        fix: 'run: botsync cluster init',
      });
    case 'older':
      throw new SyncError('configuration', {
        place,
        reason: 'is of an older version of botsync',
        fix: 'run botsync cluster init, which brings it up to date, once all hosts have this version',
      });
    case 'newer':
      throw new SyncError('configuration', {
        place,
        reason: 'is of a newer version of botsync',
        fix: 'install that version on this host',
      });
  }
}

/** Asks the database something; what it says in the way of failures becomes a `SyncError`. */
export async function asked<T>(
  question: () => Promise<T>,
  { schema }: Pick<ClusterConfig, 'schema'>,
): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw databaseProblem(error, schema);
  }
}

function databaseProblem({ kind, code, message }: DatabaseError, schema: string): SyncError {
  const place = 'the database (cluster.database)';
  if (kind === 'unreachable')
    return new SyncError('cluster', {
      place,
      reason: `cannot be reached: ${message}`,
      fix: fixOf(code, message),
    });
  if (code === '42501')
    return new SyncError('configuration', {
      place,
      reason: `does not let this role do it: ${message}`,
      fix: `grant it what "botsync cluster init" prints for the schema "${schema}"`,
    });
  return new SyncError('configuration', { place, reason: `refuses: ${message}`, fix: fixOfRefusal(code) });
}

/** What to do about a refusal, by PostgreSQL's code. */
function fixOfRefusal(code: string | null): string {
  switch (code) {
    // The schema, a table, a column or a function is not there.
    case '3F000':
    case '42P01':
    case '42703':
    case '42883':
      return 'run: botsync cluster init';
    case '3D000':
      return 'create this database, or name another one in the address';
    case '28000':
    case '28P01':
      return 'check the role and its password in the address, and that pg_hba.conf of the server lets this host in';
    case null:
    default:
      return 'the log of the database says more; check the address, the role and its rights';
  }
}

/** What to do about a connection that cannot be made. */
function fixOf(code: string | null, message: string): string {
  if (code !== null && isAboutCertificate(code))
    return 'its certificate has to be valid for the host in the address, and from an authority that this machine knows or that "?sslrootcert=FILE" names';
  // node-postgres has no code for that.
  if (message.includes('does not support SSL'))
    return 'switch encryption on in PostgreSQL (ssl = on): only a socket, localhost and 127.0.0.1 do without';
  return 'check its address, and that it runs';
}
