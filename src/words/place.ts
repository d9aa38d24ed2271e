/** The name of a file for people: its source and its path in the source; for the source itself its name alone. */
export function placeOf(source: string, path: string): string {
  return path === '.' ? source : `${source}/${path}`;
}
