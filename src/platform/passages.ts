import { isList, isObject, readNextToken, readObject } from './resources.ts';
import type { JsonValue } from '../domain/json.ts';

/** A piece of text that the platform made of a file. */
export interface Passage {
  readonly text: string;
  /** What it is, such as `Chunk` or `Title`; `null`: not said. */
  readonly type: string | null;
  /** From 1; `null`: the file has no pages. */
  readonly page: number | null;
}

/** A passage that a search found. */
export interface FoundPassage extends Passage {
  /** How well it fits: more is better. */
  readonly score: number;
  readonly key: string;
}

/** One page of a file's passages. `nextToken`: `null` on the last page. */
export interface PassagePage {
  readonly passages: readonly Passage[];
  readonly nextToken: string | null;
}

/** The passages of an answer to a search; `null` when the answer makes no sense. */
export function readFoundPassages(text: string): FoundPassage[] | null {
  const passages = readObject(text)?.['passages'];
  if (!isList(passages)) return null;
  const found = passages.map((one) => {
    const passage = readPassage(one);
    if (passage === null || !isObject(one)) return null;
    const { score, file } = one as { score?: JsonValue; file?: JsonValue };
    const key = isObject(file) ? file['key'] : undefined;
    if (typeof score !== 'number' || typeof key !== 'string') return null;
    return { key, score, ...passage };
  });
  return found.every((one) => one !== null) ? found : null;
}

/** A page of passages; `null` when the answer makes no sense. */
export function readPassagePage(text: string): PassagePage | null {
  const body = readObject(text);
  const listed = body?.['passages'];
  const nextToken = body === null ? undefined : readNextToken(body);
  if (!isList(listed) || nextToken === undefined) return null;
  const passages = listed.map(readPassage);
  return passages.every((one) => one !== null) ? { passages, nextToken } : null;
}

/** The id of the file in an answer; `null` when the answer makes no sense. */
export function readId(text: string): string | null {
  const file = readObject(text)?.['file'];
  const id = isObject(file) ? file['id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}

function readPassage(value: JsonValue): Passage | null {
  if (!isObject(value) || typeof value['content'] !== 'string') return null;
  const meta = value['meta'];
  const { type, pageNumber } = isObject(meta)
    ? (meta as { type?: JsonValue; pageNumber?: JsonValue })
    : { type: null, pageNumber: null };
  return {
    type: typeof type === 'string' ? type : null,
    page: typeof pageNumber === 'number' ? pageNumber : null,
    text: value['content'],
  };
}
