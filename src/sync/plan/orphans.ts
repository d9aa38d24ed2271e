import type { StateReader } from '../../state/state-reader.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsThere } from '../sources/mounts.ts';
import { presenceOf } from '../sources/presence.ts';
import type { FoundSource } from '../sources/source.ts';

/**
 * The path of the file that would give a key, where the source can be seen and has no such file; else `null`. What a
 * source holds that is halted is not known.
 */
export function mayBeOrphan(found: FoundSource, key: string, state: StateReader): string | null {
  const { name, keyPrefix } = found.config;
  const prefix = keyPrefix.normalize('NFC');
  if (found.kind !== 'found' || !key.startsWith(prefix) || key === prefix) return null;
  const { source } = found;
  if ((state.source(name)?.halted ?? null) !== null || !isStillThere(source) || !areMountsThere(source))
    return null;
  const path = key.slice(prefix.length);
  // A key is composed; the name of its file need not be.
  const isGone = [path, path.normalize('NFD')].every((one) => presenceOf(source, one) === 'gone');
  return isGone ? path : null;
}
