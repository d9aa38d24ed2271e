import { needsNoContent } from '../../domain/change-in-place.ts';
import type { ResolvedSettings } from '../../domain/rules.ts';
import { sentSettingsOf } from '../../domain/settings.ts';
import type { RemoteReader } from '../../store/remote.ts';

/**
 * Returns a function that decides whether settings can be changed from one digest to others without sending content. It
 * caches its answers: a million files have a handful of settings.
 *
 * @param canUpdate - returns whether the platform supports changes without content.
 */
export function settingsComparer(
  remote: Pick<RemoteReader, 'toldSettings'>,
  canUpdate: () => boolean,
): (before: string, after: ResolvedSettings) => boolean {
  const known = new Map<string, boolean>();
  const compare = (before: string, after: ResolvedSettings): boolean => {
    if (before === after.digest) return true;
    const told = remote.toldSettings(before);
    return told !== null && needsNoContent(told, sentSettingsOf(after.settings));
  };
  return (before, after) => {
    if (!canUpdate()) return false;
    const id = `${before} ${after.digest}`;
    const answer = known.get(id) ?? compare(before, after);
    known.set(id, answer);
    return answer;
  };
}
