import type { PathLook } from '../../domain/hint.ts';
import type { Source } from './source.ts';

/** How a path of a source looks now; `null`: that cannot be seen. */
export function lookAtPath({ disk, root }: Pick<Source, 'disk' | 'root'>, path: string): PathLook | null {
  try {
    const facts = disk.lstat(`${root}/${path}`);
    if (facts.isDirectory()) return { kind: 'directory', mtimeNs: facts.mtimeNs };
    const kind = facts.isFile() ? 'file' : facts.isSymbolicLink() ? 'link' : null;
    return kind === null ? { kind: 'other' } : { kind, sizeBytes: facts.size, mtimeNs: facts.mtimeNs };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'absent' } : null;
  }
}
