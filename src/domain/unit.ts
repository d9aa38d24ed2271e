/** What a unit is made of: a source, as far as it matters which host works on it. */
export interface UnitSource {
  readonly name: string;
  readonly keyPrefix: string;
  /** Names its target: sources of different targets never meet. */
  readonly targetName: string;
}

/** Sources that one host at a time works on, since two of them may give one key. In the order they were given. */
export interface Unit<S extends UnitSource = UnitSource> {
  readonly name: string;
  readonly sources: readonly S[];
}

/** Whether two sources may give one key. */
export function mayShareKey(
  a: Pick<UnitSource, 'keyPrefix' | 'targetName'>,
  b: Pick<UnitSource, 'keyPrefix' | 'targetName'>,
): boolean {
  return a.targetName === b.targetName && prefixesMeet(a.keyPrefix, b.keyPrefix);
}

/** Whether files under two key prefixes may have the same key. */
export function prefixesMeet(one: string, other: string): boolean {
  const [a, b] = [one.normalize('NFC'), other.normalize('NFC')];
  return a.startsWith(b) || b.startsWith(a);
}

/** Puts together what may meet, directly or by others, each group in the order given. */
export function groupMeeting<T>(items: readonly T[], mayMeet: (a: T, b: T) => boolean): T[][] {
  let groups: T[][] = [];
  for (const one of items) {
    const meets = (group: readonly T[]): boolean => group.some((other) => mayMeet(one, other));
    groups = [...groups.filter((group) => !meets(group)), [...groups.filter(meets).flat(), one]];
  }
  return groups.map((group) => group.sort((a, b) => items.indexOf(a) - items.indexOf(b)));
}

/** The units of some sources, named after them. */
export function unitsOf<S extends UnitSource>(sources: readonly S[]): Unit<S>[] {
  return groupMeeting(sources, mayShareKey).map((group) => ({
    name: group
      .map(({ name }) => partOfName(name))
      .sort()
      .join('+'),
    sources: group,
  }));
}

/** What puts names together in the names of units does not stand in a name itself. */
function partOfName(source: string): string {
  return source.replace(/[%+@]/gu, encodeURIComponent);
}
