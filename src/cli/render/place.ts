/** A file as people are told of it, by its source and its path there; the source itself goes by its name alone. */
export function placeOf(source: string, path: string): string {
  return path === '.' ? source : `${source}/${path}`;
}
