import { DatabaseError } from '../../cluster/shared-ledger.ts';
import { STATE_VERSION } from '../../store/schema.ts';
import { SyncError } from '../sync-error.ts';
import { asked, databaseProblem, demandLedger, type Cluster } from './open-cluster.ts';

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
