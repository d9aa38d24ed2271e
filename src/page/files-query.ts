import { FILE_GROUPS, type FileGroup } from '../domain/status.ts';
import type { ListPlace } from '../sync/plan/list-files.ts';

/** The choices of a visitor of the list of files; an empty text is no choice. */
export interface FilesQuery {
  readonly source: string;
  readonly state: FileGroup | '';
  /** Part of the path. */
  readonly text: string;
  /** The list begins after this place; `null`: at the beginning. */
  readonly after: ListPlace | null;
}

/** In characters; no path is longer. */
const LONGEST = 5000;

/** Reads the query of an address; ignores unknown parameters and values. */
export function readFilesQuery(params: URLSearchParams): FilesQuery {
  const text = (name: string): string => (params.get(name) ?? '').slice(0, LONGEST);
  const state = FILE_GROUPS.find((group) => group === params.get('state')) ?? '';
  const from = params.get('from');
  const target = Number(params.get('target') ?? Number.NaN);
  return {
    ...{ source: text('source'), state, text: text('text').trim() },
    after:
      from === null || !Number.isSafeInteger(target) ? null : { source: from, target, path: text('after') },
  };
}

/** Returns the address of a list. */
export function filesAddress({ source, state, text, after }: Partial<FilesQuery>): string {
  const chosen = Object.entries({ source, state, text }).filter(
    (field): field is [string, string] => field[1] !== undefined && field[1] !== '',
  );
  const params = new URLSearchParams(chosen);
  if (after !== undefined && after !== null) {
    params.set('from', after.source);
    params.set('target', String(after.target));
    params.set('after', after.path);
  }
  return params.size === 0 ? '/files' : `/files?${params.toString()}`;
}
