import { readFileSync } from 'node:fs';

/** Why directories are not watched. */
export type WatchFailure =
  /** ENOSPC: `fs.inotify.max_user_watches`. */
  | { readonly kind: 'watch-limit' }
  /** EMFILE, ENFILE: open files, or `fs.inotify.max_user_instances`. */
  | { readonly kind: 'open-limit' }
  /** Anything else, in the system's words. */
  | { readonly kind: 'other'; readonly error: string };

/** The directory is gone, or not to be read: its parent's events and the scans tell of it. */
const HARMLESS = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM']);

/** What an error of the file system means for watching; `null` when it means nothing beyond its directory. */
export function watchFailureOf(error: NodeJS.ErrnoException): WatchFailure | null {
  const code = error.code ?? '';
  if (HARMLESS.has(code)) return null;
  if (code === 'ENOSPC') return { kind: 'watch-limit' };
  if (code === 'EMFILE' || code === 'ENFILE') return { kind: 'open-limit' };
  return { kind: 'other', error: error.message };
}

/**
 * Words for people: what is not watched, and what to do about it.
 *
 * @param root - the directory that was to be watched.
 * @param directories - how many directories are to be watched.
 * @param watched - how many are.
 */
export function describeWatchFailure(
  failure: WatchFailure,
  root: string,
  directories: number,
  watched: number,
): string {
  const extent = `${watched} of ${directories} directories of ${root} are watched`;
  const meanwhile = 'changes in the others are found only by rescans';
  switch (failure.kind) {
    case 'watch-limit': {
      const needed = roomyLimit(directories - watched);
      return `${extent}, ${meanwhile}: the system's watch limit is reached. Raise it: sysctl -w fs.inotify.max_user_watches=${needed} (and the same in /etc/sysctl.d/ to keep it), then restart`;
    }
    case 'open-limit':
      return `${extent}, ${meanwhile}: a limit of open files or of watching processes is reached. Raise fs.inotify.max_user_instances (sysctl -w fs.inotify.max_user_instances=512) and the number of open files (LimitNOFILE= in the unit, ulimit -n in a shell), then restart`;
    case 'other':
      return `${extent}, ${meanwhile}: ${failure.error}`;
  }
}

/** The limit shared with all else that the user runs, plus what is missing, with some room to grow. */
function roomyLimit(missing: number): number {
  let limit = 8192;
  try {
    limit = Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
  } catch {
    // Without the present limit the number that is missing has to do.
  }
  return 2 ** Math.ceil(Math.log2((limit + missing) * 1.25));
}
