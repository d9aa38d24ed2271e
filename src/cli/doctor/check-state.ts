import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import ms from 'ms';
import prettyBytes from 'pretty-bytes';
import type { Config } from '../../config/config.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { accessObstacle } from '../../service/access-obstacle.ts';
import { overview } from '../../sync/plan/overview.ts';
import type { Records } from '../../run/read-state-file.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';
import { SyncError } from '../../run/sync-error.ts';

/** With less room, the state file soon cannot be written, in bytes. */
const LITTLE_ROOM_BYTES = 100_000_000;

/** Checks whether the state file is readable and writable, its last pass, and the room on its disk. */
export async function checkState(
  config: Config,
  platformName: string,
  options: GlobalOptions,
  records: Records,
): Promise<Diagnosis[]> {
  return [
    ...(await checkStateFile(config, platformName, commandEnd(options), records)),
    ...checkRoom(config.stateFile),
  ];
}

async function checkStateFile(
  config: Config,
  platformName: string,
  rest: string,
  records: Records,
): Promise<Diagnosis[]> {
  const { stateFile } = config;
  const unwritable = checkWritable(stateFile);
  if (!existsSync(stateFile) && config.cluster === null) {
    return [fine('state', `${stateFile} does not exist yet: no pass has been made`), ...unwritable];
  }
  try {
    return await records.read(({ reader, holder }) => {
      const { sources, lastPass } = overview(reader, config, platformName, Date.now());
      const files = sources.reduce((sum, source) => sum + source.files, 0);
      const last =
        lastPass === null ? 'no pass has ended yet' : `the last pass ended ${ago(lastPass.finishedAt)}`;
      const running = holder === null ? '' : `; in use by "${holder.command}", process ${holder.pid}`;
      const halted = sources.filter((source) => source.halted !== null);
      const astray = sources.reduce((sum, { failed, refused }) => sum + failed + refused, 0);
      return [
        fine('state', `${files.toLocaleString('en')} in sync, ${last}${running}`),
        ...halted.map((source) =>
          broken(
            'state',
            `${source.name} is halted: ${source.halted ?? ''}`,
            `check its directory. A missing directory only has to be restored; if everything is as it should be, run: botsync approve${rest}, or without a service botsync sync --once --allow-removals${rest}`,
          ),
        ),
        ...(astray === 0
          ? []
          : [
              doubtful(
                'state',
                `${astray.toLocaleString('en')} failed or refused`,
                'run botsync status for the reasons',
              ),
            ]),
        ...unwritable,
      ];
    });
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return [broken('state', error.message, null)];
  }
}

function checkWritable(stateFile: string): Diagnosis[] {
  const obstacle = accessObstacle(stateFile, 'write');
  return obstacle === null ? [] : [broken('state', obstacle.reason, obstacle.fix)];
}

function checkRoom(stateFile: string): Diagnosis[] {
  const directory = nearestDirectory(stateFile);
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = bavail * bsize;
  const room = `${prettyBytes(freeBytes)} free on the disk of ${directory}`;
  return [
    freeBytes >= LITTLE_ROOM_BYTES
      ? fine('disk', room)
      : doubtful('disk', `only ${room}`, 'free some space, or the records cannot be written'),
  ];
}

/** Returns the nearest existing directory above a path. */
function nearestDirectory(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : nearestDirectory(parent);
}

function ago(moment: string): string {
  return `${ms(Math.max(0, Date.now() - Date.parse(moment)), { long: true })} ago`;
}
