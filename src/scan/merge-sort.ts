/**
 * Sorts blocks of entries into one list. Yields `null` now and then, for the caller to let others run: a million entries
 * sorted at once would keep everybody waiting for a second.
 *
 * @param stepEntries - how many entries are moved between two yields.
 */
export function* mergeSort<T>(
  blocks: readonly T[][],
  compare: (a: T, b: T) => number,
  stepEntries: number,
): Generator<null, T[]> {
  let runs = blocks;
  for (const run of runs) {
    run.sort(compare);
    if (runs.length > 1) yield null;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [first = [], second = []] = runs.slice(at, at + 2);
      longer.push(second.length === 0 ? first : yield* merge(first, second, compare, stepEntries));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merge<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
  stepEntries: number,
): Generator<null, T[]> {
  const merged: T[] = [];
  let i = 0;
  for (const entry of second) {
    for (let a = first[i]; a !== undefined && compare(a, entry) <= 0; a = first[++i]) {
      merged.push(a);
      if (merged.length % stepEntries === 0) yield null;
    }
    merged.push(entry);
    if (merged.length % stepEntries === 0) yield null;
  }
  for (let a = first[i]; a !== undefined; a = first[++i]) {
    merged.push(a);
    if (merged.length % stepEntries === 0) yield null;
  }
  return merged;
}
