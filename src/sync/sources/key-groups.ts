import { groupMeeting, mayShareKey } from '../../domain/unit.ts';
import type { FoundSource, Source } from './source.ts';

/**
 * Sources that may give one key, together, in the order of the config: of two files with one key the first keeps it, so
 * these have to be walked one after the other. Others need not.
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
