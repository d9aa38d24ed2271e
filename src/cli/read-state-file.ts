import { findHolder, type LockHolder } from '../service/process-lock.ts';
import { openReader } from '../state/open-reader.ts';
import type { StateReader } from '../state/state-reader.ts';
import { UsageError } from './usage-error.ts';

/** The state file, open for reading beside whoever may be writing it. */
export interface ReadState {
  readonly reader: StateReader;
  /** The botsync that is running on it. */
  readonly holder: LockHolder | null;
  readonly close: () => void;
}

/** Opens the state file without writing anything. Throws `UsageError` for one that cannot be read. */
export function readStateFile(file: string): ReadState {
  const holder = findHolder(file);
  const opened = openReader(file, holder !== null);
  switch (opened.kind) {
    case 'open':
      return { reader: opened.reader, holder, close: opened.close };
    case 'newer':
      throw new UsageError(
        `${file} was written by a newer botsync (state version ${opened.version}); install that version`,
      );
    case 'foreign':
      throw new UsageError(`${file} is a database of another program; name another stateFile`);
    case 'unreadable':
      throw new UsageError(`${file} cannot be read: ${opened.reason}; check that this user may read it`);
    case 'damaged':
      throw new UsageError(
        `${file} is damaged (${opened.reason}); the next "sync --once" sets it aside and builds a new one`,
      );
  }
}
