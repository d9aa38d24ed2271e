import { groupMeeting, mayShareKey } from '../../domain/unit.ts';
import type { FoundSource, Source } from './source.ts';

/**
 * Groups sources that may produce the same key, in the order of the config. Sources of one group must be walked one
 * after the other, because of two files with the same key the first keeps it.
 */
export function keyGroups(found: readonly FoundSource[]): FoundSource[][] {
  return groupMeeting(found, mayMeet);
}

function mayMeet(one: FoundSource, other: FoundSource): boolean {
  if (one.kind === 'missing' || other.kind === 'missing') return false;
  return mayShareKey(keyed(one.config.keyPrefix, one.source), keyed(other.config.keyPrefix, other.source));
}

function keyed(
  keyPrefix: string,
  { syncTarget: { baseUrl, botId, identity } }: Source,
): { keyPrefix: string; targetName: string } {
  return { keyPrefix, targetName: JSON.stringify([baseUrl, botId, identity]) };
}
