import { accessObstacle } from '../service/access-obstacle.ts';
import { openState } from '../state/open.ts';
import type { StateStore } from '../state/state-store.ts';
import { SyncError } from './sync-error.ts';

/** Opens the state file for a pass. A damaged one is set aside and told of loudly; throws `SyncError` for one that is not for us. */
export function openStateFile(
  file: string,
  checkThoroughly: boolean,
  warn: (message: string) => void,
): StateStore {
  const opened = openState(file, { checkThoroughly, nowMs: Date.now() });
  switch (opened.kind) {
    case 'open':
      if (opened.setAside !== null) {
        warn(
          `THE STATE FILE WAS DAMAGED. It is kept as ${opened.setAside}. A new one is built by sending every file again; nothing is removed on the platform because of this.`,
        );
      }
      return opened.store;
    case 'newer':
      throw new SyncError('state-file', {
        place: file,
        reason: `was written by a newer botsync (state version ${opened.version})`,
        fix: 'install that version, or name another stateFile',
      });
    case 'foreign':
      throw new SyncError('state-file', {
        place: file,
        reason: 'is a database of another program and was not touched',
        fix: 'name another stateFile',
      });
    case 'unusable': {
      const { reason, fix } = accessObstacle(file, 'write') ?? {
        reason: opened.reason,
        fix: 'check that this user may write there and that the disk has room',
      };
      throw new SyncError('state-file', { place: file, reason: `cannot be used: ${reason}`, fix });
    }
  }
}
