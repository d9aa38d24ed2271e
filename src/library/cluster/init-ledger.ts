import { quoted } from '../../cluster/schema.ts';
import { STATE_VERSION } from '../../store/schema.ts';
import { SyncError } from '../sync-error.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';

/** What became of a ledger. `updated`: tables that were missing were made. */
export interface LedgerMade {
  readonly kind: 'created' | 'updated' | 'unchanged';
  /** The schema that has the ledger of an older version now; `null`: there was none. */
  readonly keptAs: string | null;
}

/**
 * Makes the tables of a cluster. Those of an older version are kept in a schema of another name. What is as it should be is
 * left alone, so that this takes no right that a later start lacks; what was begun and interrupted is finished. Throws
 * `SyncError`.
 *
 * @param nowMs - epoch milliseconds; names what is kept.
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

/** Renames the schema of a ledger. Returns its new name. */
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
    `run this once as a role that may create the schema "${schema}" (--database says where its address is), or create it for this one: CREATE SCHEMA ${quoted(schema)} AUTHORIZATION …`,
  );
}

/** Throws `SyncError`, with `fix` where this role lacks a right. */
async function withRights(question: () => Promise<unknown>, schema: string, fix: string): Promise<void> {
  try {
    await asked(question, { schema });
  } catch (error) {
    if (!(error instanceof SyncError) || !/permission denied|must be owner/u.test(error.reason)) throw error;
    throw new SyncError('configuration', { place: error.place, reason: error.reason, fix });
  }
}
