import type { Config, ClusterConfig, SecretReference } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../service/logger.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { resolveSecret } from '../../config/secrets.ts';
import { DatabaseError, type SharedLedger } from '../../cluster/shared-ledger.ts';
import { openSharedLedger } from '../../cluster/open-ledger.ts';
import { STATE_VERSION } from '../../store/schema.ts';
import { partsOf, SyncError } from '../sync-error.ts';

/** A statement times out after this part of the lease, so that it can be retried before the lease runs out. */
const PATIENCE_PART = 1 / 3;

export interface Cluster extends SharedLedger {
  readonly config: ClusterConfig;
}

/** This host in a cluster, with the current configuration. */
export interface ClusterHost {
  readonly cluster: Cluster;
  readonly config: () => Config;
  /** Returns the name of the platform in records. */
  readonly platformName: (config: Config) => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Another place for the address of the database than the configuration. `place`: its name in messages. */
export interface OtherAddress {
  readonly reference: SecretReference;
  readonly place: string;
}

/** Opens the ledger without a request. Throws `SyncError` if the address of the database cannot be read. */
export function openCluster(
  loaded: LoadedConfig,
  config: ClusterConfig,
  env: NodeJS.ProcessEnv,
  other: OtherAddress | null = null,
): Cluster {
  const place = other?.place ?? `${loaded.file}: cluster.database`;
  const found = resolveSecret(other?.reference ?? config.database, env);
  const opened =
    found.kind === 'ok'
      ? openSharedLedger(found.value, {
          applicationName: `botsync ${config.host}`,
          schema: config.schema,
          patienceMs: patienceMs(config),
        })
      : { kind: 'problem' as const, message: found.message };
  if (opened.kind === 'problem') {
    const { message } = opened;
    throw new SyncError('configuration', { place, ...partsOf(message), message: `${place}: ${message}` });
  }
  return { ...opened.ledger, config };
}

/** Wakes other hosts before their next beat, if the database is reachable. */
export async function wakeOthers({ messages, config }: Cluster): Promise<void> {
  await messages.wake(config.host).catch(() => undefined);
}

/** Returns the timeout of a statement, milliseconds. */
export function patienceMs({ leaseMs }: Pick<ClusterConfig, 'leaseMs'>): number {
  return Math.round(leaseMs * PATIENCE_PART);
}

/** Throws `SyncError` if the ledger is missing or of another version. */
export async function demandLedger({ tables, config }: Cluster): Promise<void> {
  const place = `the schema "${config.schema}" of the database`;
  const standing = await asked(() => tables.standing(STATE_VERSION), config);
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
        fix: 'when all hosts have this version, run: botsync cluster init (it keeps this ledger under another name; the new one adopts the files, so nothing is sent again)',
      });
    case 'newer':
      throw new SyncError('configuration', {
        place,
        reason: 'is of a newer version of botsync',
        fix: 'install that version on this host',
      });
  }
}

/** Runs a database request; turns its failures into `SyncError`. */
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

/** Returns the error to report for a failure of the database. */
function databaseProblem({ kind, isForbidden, fix, message }: DatabaseError, schema: string): SyncError {
  const place = 'the database (cluster.database)';
  if (kind === 'unreachable')
    return new SyncError('cluster', { place, reason: `cannot be reached: ${message}`, fix });
  if (!isForbidden) return new SyncError('configuration', { place, reason: `refuses: ${message}`, fix });
  return new SyncError('configuration', {
    place,
    reason: `does not let this role do it: ${message}`,
    fix: `grant it what "botsync cluster init" prints for the schema "${schema}"`,
  });
}

/** Runs a task with the cluster of a configuration. Throws `SyncError`, also if there is no cluster. */
export async function withCluster<T>(
  loaded: LoadedConfig,
  env: NodeJS.ProcessEnv,
  task: (cluster: Cluster) => Promise<T>,
  other: OtherAddress | null = null,
): Promise<T> {
  const { cluster: config } = loaded.config;
  if (config === null)
    throw new SyncError('configuration', {
      place: loaded.file,
      reason: 'has no "cluster" block: this host works alone',
      fix: 'to have several hosts share the work, add "cluster": { "database": "env:BOTSYNC_DATABASE" }',
    });
  const cluster = openCluster(loaded, config, env, other);
  try {
    return await task(cluster);
  } finally {
    await cluster.close();
  }
}

/** `updated`: missing tables were created. */
export interface LedgerMade {
  readonly kind: 'created' | 'updated' | 'unchanged';
  /** The schema that now has the ledger of an older version; `null`: there was none. */
  readonly keptAs: string | null;
}

/**
 * Creates the tables of a cluster, or completes what an interrupted run began. Renames the schema of an older version.
 * A complete ledger is not touched, so that this needs no more rights than a later start. Throws `SyncError`.
 *
 * @param nowMs - epoch milliseconds, for the name of the old schema.
 */
export async function initLedger(cluster: Cluster, nowMs: number): Promise<LedgerMade> {
  const { tables, config } = cluster;
  let keptAs: string | null = null;
  const standing = await asked(() => tables.standing(STATE_VERSION), config);
  switch (standing.kind) {
    case 'ready':
      if (await asked(() => tables.isComplete(), config)) return { kind: 'unchanged', keptAs };
      await make(cluster);
      return { kind: 'updated', keptAs };
    case 'newer':
      await demandLedger(cluster);
      throw new Error('a newer ledger was demanded and found');
    case 'older':
      keptAs = await setAside(cluster, nowMs);
      break;
    case 'none':
  }
  await make(cluster);
  return { kind: 'created', keptAs };
}

/** Renames the schema of a ledger and returns the new name. */
async function setAside({ tables, config: { schema } }: Cluster, nowMs: number): Promise<string> {
  const name = `${schema}_older_${Math.floor(nowMs / 1000)}`;
  await withRights(
    () => tables.rename(name),
    schema,
    `run this once as the owner of the schema (--database says where the address is), or: ${tables.renaming(name)}`,
  );
  return name;
}

async function make({ tables, config: { schema } }: Cluster): Promise<void> {
  await withRights(
    () => tables.create(STATE_VERSION),
    schema,
    `run this once as a role that may create the schema "${schema}" (--database says where its address is), or create it for this one: ${tables.making}`,
  );
}

/** Throws `SyncError`, with `fix` if this role lacks a right. */
async function withRights(question: () => Promise<unknown>, schema: string, fix: string): Promise<void> {
  try {
    await question();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const problem = databaseProblem(error, schema);
    if (!error.isForbidden) throw problem;
    throw new SyncError('configuration', { place: problem.place, reason: problem.reason, fix });
  }
}
