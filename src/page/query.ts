/** What a visitor asked to see; empty: everything, and no file. */
export interface PageQuery {
  /** A file to explain, by its absolute path or by its source and its path in it. */
  readonly file: string;
  /** Of the files that are not in sync: those of this source, … */
  readonly source: string;
  /** … of this kind, … */
  readonly kind: string;
  /** … and those whose name or reason contains this. */
  readonly text: string;
}

/** Longer texts than any path are cut. */
const LONGEST = 5000;

/** Reads the query of an address. Anything else in it is ignored. */
export function readPageQuery(params: URLSearchParams): PageQuery {
  const text = (name: string): string => (params.get(name) ?? '').slice(0, LONGEST).trim();
  // The name of a file may end with a space.
  const file = (params.get('file') ?? '').slice(0, LONGEST);
  return { file, source: text('source'), kind: text('kind'), text: text('text') };
}
