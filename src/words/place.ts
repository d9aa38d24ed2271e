/** Returns the name of a file for messages: its source and its path in the source; for the source itself only its name. */
export function placeOf(source: string, path: string): string {
  return path === '.' ? source : `${source}/${path}`;
}
