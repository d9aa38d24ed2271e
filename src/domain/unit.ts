export interface UnitSource {
  readonly name: string;
  readonly keyPrefix: string;
  /** Sources of different targets never share keys. */
  readonly targetName: string;
}

/** Sources that one host at a time works on, since several of them may produce the same key. In the order of the input. */
export interface Unit<S extends UnitSource = UnitSource> {
  readonly name: string;
  readonly sources: readonly S[];
}

export function mayShareKey(
  a: Pick<UnitSource, 'keyPrefix' | 'targetName'>,
  b: Pick<UnitSource, 'keyPrefix' | 'targetName'>,
): boolean {
  return a.targetName === b.targetName && prefixesMeet(a.keyPrefix, b.keyPrefix);
}

/** Returns whether files under two key prefixes may have the same key. */
export function prefixesMeet(one: string, other: string): boolean {
  const [a, b] = [one.normalize('NFC'), other.normalize('NFC')];
  return a.startsWith(b) || b.startsWith(a);
}

/** Groups items that may meet, directly or through others, each group in the order of the input. */
export function groupMeeting<T>(items: readonly T[], mayMeet: (a: T, b: T) => boolean): T[][] {
  let groups: T[][] = [];
  for (const one of items) {
    const meets = (group: readonly T[]): boolean => group.some((other) => mayMeet(one, other));
    groups = [...groups.filter((group) => !meets(group)), [...groups.filter(meets).flat(), one]];
  }
  return groups.map((group) => group.sort((a, b) => items.indexOf(a) - items.indexOf(b)));
}

export function unitsOf<S extends UnitSource>(sources: readonly S[]): Unit<S>[] {
  return groupMeeting(sources, mayShareKey).map((group) => ({
    name: group
      .map(({ name }) => partOfName(name))
      .sort()
      .join('+'),
    sources: group,
  }));
}

/** Escapes the characters that join names in the names of units. */
function partOfName(source: string): string {
  return source.replace(/[%+@]/gu, encodeURIComponent);
}
