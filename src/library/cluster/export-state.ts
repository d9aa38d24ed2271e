import { chmodSync, closeSync, existsSync, fsyncSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { UnitRow } from '../../cluster/membership.ts';
import type { Config } from '../../config/config.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import { guarded, StateFileError } from '../../state/database.ts';
import { WorkingCopy } from '../../state/working-copy.ts';
import { holdLock } from '../hold-lock.ts';
import { withStateFile } from '../read-state-file.ts';
import { SyncError } from '../sync-error.ts';
import { freeAbandoned } from './free-abandoned.ts';
import { giveAnotherName } from './give-another-name.ts';
import { loadLedger } from './load-ledger.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';

/** What is exported, and where to. */
export interface ExportRun {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
  /** The file that is made. */
  readonly to: string;
}

/** What was exported. */
export interface Exported {
  /** Names of units. */
  readonly units: readonly string[];
  readonly files: number;
}

/**
 * Writes what all units of the ledger have on record, and the sources that are pinned to this host, into a new state file, with which a
 * host can work on its own. Nobody may hold a unit: its records would go on changing. Nothing of it is there until all of it is. Throws
 * `SyncError`.
 */
export async function exportState(
  cluster: Cluster,
  { config, platformName, to }: ExportRun,
): Promise<Exported> {
  if (existsSync(to)) throw isThere(to);
  const lock = holdLock(config.stateFile, 'the state file', 'cluster export');
  try {
    await demandLedger(cluster);
    refuseHeld(await freeAbandoned(cluster, () => true));
    const directory = beside(to);
    try {
      const file = join(directory, 'state.db');
      const exported = await withStateFile(
        config.stateFile,
        ({ reader, database }) => write(cluster, file, { config, platformName, reader, database }),
        null,
      );
      syncToDisk(file);
      giveAnotherName(file, to);
      return exported;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(to);
      if (!(error instanceof StateFileError)) throw error;
      throw new SyncError('state-file-failed', {
        place: to,
        reason: `cannot be written: ${error.message}`,
        fix: 'see that there is room, or name another file',
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

async function write(
  cluster: Cluster,
  file: string,
  own: Parameters<typeof loadLedger>[2],
): Promise<Exported> {
  const copy = new WorkingCopy(file);
  try {
    chmodSync(file, 0o600);
    const before = await loadLedger(cluster, copy, own);
    // Whoever came in the meantime may have changed what was loaded first.
    const { units } = await asked(() => cluster.membership.look(), cluster.config);
    refuseHeld(units);
    if (units.some(({ id, epoch }) => before.units.find((unit) => unit.id === id)?.epoch !== epoch))
      throw new SyncError('cluster', {
        place: 'the ledger',
        reason: 'was changed while it was read',
        fix: 'stop botsync on all hosts, then export again',
      });
    return guarded(() => {
      const { files } = copy.database.prepare('SELECT count(*) AS files FROM file').get() as {
        files: number;
      };
      const exported = units.filter((unit) => unit.pinned === null && !isOfNotifications(unit));
      return { units: exported.map(({ name }) => name), files };
    });
  } finally {
    copy.close();
  }
}

function refuseHeld(units: readonly UnitRow[]): void {
  const held = units.filter(({ holder, pinned }) => holder !== null && pinned === null);
  if (held.length === 0) return;
  const list = held.map(({ name, holderHost }) => `"${name}" by ${holderHost ?? 'a host'}`).join(', ');
  throw new SyncError('usage', {
    place: held.length === 1 ? 'a unit' : `${held.length} units`,
    reason: `of the ledger ${held.length === 1 ? 'is' : 'are'} held: ${list}`,
    fix: 'stop botsync on these hosts: what they record from now on would be missing',
  });
}

/** A directory of our own next to a file. */
function beside(to: string): string {
  try {
    return mkdtempSync(join(dirname(to), '.botsync-export-'));
  } catch (error) {
    throw new SyncError('usage', {
      place: to,
      reason: `cannot be written: ${(error as Error).message}`,
      fix: 'name a file in a directory that is there',
    });
  }
}

function syncToDisk(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function isThere(to: string): SyncError {
  return new SyncError('usage', { place: to, reason: 'is there already', fix: 'name a new file' });
}
