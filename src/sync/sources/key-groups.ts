import type { FoundSource, Source } from './source.ts';

/**
 * Sources that may give one key, together, in the order of the config: of two files with one key the first keeps it, so
 * these have to be walked one after the other. Others need not.
 */
export function keyGroups(found: readonly FoundSource[]): FoundSource[][] {
  let groups: FoundSource[][] = [];
  for (const one of found) {
    const mayMeet = (group: readonly FoundSource[]): boolean =>
      group.some((other) => mayShareKey(one, other));
    const own = groups.filter(mayMeet).flat();
    groups = [...groups.filter((group) => !mayMeet(group)), [...own, one]];
  }
  return groups.map((group) => group.sort((a, b) => found.indexOf(a) - found.indexOf(b)));
}

function mayShareKey(one: FoundSource, other: FoundSource): boolean {
  if (one.kind === 'missing' || other.kind === 'missing') return false;
  if (targetName(one.source) !== targetName(other.source)) return false;
  const [a, b] = [one.config.keyPrefix.normalize('NFC'), other.config.keyPrefix.normalize('NFC')];
  return a.startsWith(b) || b.startsWith(a);
}

function targetName({ syncTarget: { baseUrl, botId, identity } }: Source): string {
  return JSON.stringify([baseUrl, botId, identity]);
}
