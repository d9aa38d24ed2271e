import { readFileSync } from 'node:fs';

export type WatchFailure =
  /** ENOSPC: `fs.inotify.max_user_watches` is reached. */
  | { readonly kind: 'watch-limit' }
  /** EMFILE, ENFILE: too many open files, or `fs.inotify.max_user_instances` is reached. */
  | { readonly kind: 'open-limit' }
  | { readonly kind: 'other'; readonly error: string };

/** The directory was deleted or is not readable: its parent's events and the scans report that. */
const HARMLESS = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM']);

/** Returns why an error of the file system prevents watching; `null` if it concerns only its own directory. */
export function watchFailureOf(error: NodeJS.ErrnoException): WatchFailure | null {
  const code = error.code ?? '';
  if (HARMLESS.has(code)) return null;
  if (code === 'ENOSPC') return { kind: 'watch-limit' };
  if (code === 'EMFILE' || code === 'ENFILE') return { kind: 'open-limit' };
  return { kind: 'other', error: error.message };
}

/**
 * Says what is not watched and what to do about it.
 *
 * @param root - the directory to watch.
 * @param directories - how many directories should be watched.
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

/** Returns a limit for everything that the user already watches plus what is missing, with room to grow. */
function roomyLimit(missing: number): number {
  let limit = 8192;
  try {
    limit = Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
  } catch {
    // Without the present limit the default has to do.
  }
  return 2 ** Math.ceil(Math.log2((limit + missing) * 1.25));
}
