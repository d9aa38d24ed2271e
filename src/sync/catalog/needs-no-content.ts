import { needsNoContent } from '../../domain/change-in-place.ts';
import type { ResolvedSettings } from '../../domain/rules.ts';
import { toldOf } from '../../domain/settings.ts';
import type { RemoteReader } from '../../store/remote.ts';

/**
 * Says of which settings, by their digest, the way to others can be told a platform without content. It remembers its
 * answers: a tree of a million files has a handful of settings.
 *
 * @param canUpdate - whether the platform can be told anything without content.
 */
export function settingsComparer(
  remote: Pick<RemoteReader, 'toldSettings'>,
  canUpdate: () => boolean,
): (before: string, after: ResolvedSettings) => boolean {
  const known = new Map<string, boolean>();
  const compare = (before: string, after: ResolvedSettings): boolean => {
    if (before === after.digest) return true;
    const told = remote.toldSettings(before);
    return told !== null && needsNoContent(told, toldOf(after.settings));
  };
  return (before, after) => {
    if (!canUpdate()) return false;
    const id = `${before} ${after.digest}`;
    const answer = known.get(id) ?? compare(before, after);
    known.set(id, answer);
    return answer;
  };
}
