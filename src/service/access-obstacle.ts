import { accessSync, constants, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** Why this user cannot use a file, and what to do about it. */
export interface AccessObstacle {
  readonly reason: string;
  readonly fix: string;
}

/**
 * Returns why this user cannot use a file, existing or not; `null` if owner and permissions do not explain it.
 * Writing includes creating files next to it, as SQLite and locks do.
 */
export function accessObstacle(file: string, purpose: 'read' | 'write'): AccessObstacle | null {
  const [kernels] = /^\/(?:proc|sys)(?=\/)/u.exec(file) ?? [];
  if (kernels !== undefined && purpose === 'write')
    return {
      reason: `nothing can be stored below ${kernels}, a virtual file system of the kernel`,
      fix: ELSEWHERE,
    };
  const nearest = nearestKnown(file);
  const places =
    nearest.path === file && nearest.path !== dirname(file)
      ? [nearest, { path: dirname(file), stats: statSync(dirname(file)) }]
      : [nearest];
  for (const { path, stats } of places) {
    const code = denied(path, stats, purpose);
    if (code !== null) return inWords(path, stats, code, purpose);
  }
  return null;
}

/** Returns the file, or the nearest parent directory that can be inspected. */
function nearestKnown(path: string): { readonly path: string; readonly stats: Stats } {
  try {
    return { path, stats: statSync(path) };
  } catch {
    return nearestKnown(dirname(path));
  }
}

/** Returns the system's error code, or `null` if access is permitted. */
function denied(path: string, stats: Stats, purpose: 'read' | 'write'): string | null {
  const wanted = purpose === 'read' && !stats.isDirectory() ? constants.R_OK : 0;
  const enter = stats.isDirectory() ? constants.X_OK : 0;
  const write = purpose === 'write' ? constants.W_OK : 0;
  try {
    accessSync(path, wanted | enter | write);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'EACCES';
  }
}

function inWords(path: string, { uid }: Stats, code: string, purpose: 'read' | 'write'): AccessObstacle {
  if (code === 'EROFS') return { reason: `${path} is on a read-only file system`, fix: ELSEWHERE };
  const own = process.getuid?.() ?? uid;
  if (uid === own)
    return {
      reason: `the permissions of ${path} do not allow its owner to ${purpose} there`,
      fix: `run: chmod u+rwX ${path}`,
    };
  const owner = nameOf(uid);
  return {
    reason: `${path} belongs to user ${owner}, and botsync runs as ${nameOf(own)}`,
    fix: `run it as ${owner} (sudo -u ${owner} …), or ${ELSEWHERE}`,
  };
}

const ELSEWHERE = 'name another stateFile';

/** The name of a user, or the number without a name. */
function nameOf(uid: number): string {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const fields = lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid));
    return fields?.[0] ?? `#${uid}`;
  } catch {
    return `#${uid}`;
  }
}
