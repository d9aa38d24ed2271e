import type { JsonObject, JsonValue } from './json.ts';

export const MARK_NAME = 'botsync';

const VERSION = 1;

/** Identifies the content of a sent file, in the file's metadata. */
export interface Mark {
  /** SHA-256 of the content, lower-case hexadecimal. */
  readonly sha256: string;
  readonly source: string;
}

/** Returns the mark of a content as metadata. */
export function markOf(sha256: Buffer, source: string): JsonObject {
  return { v: VERSION, sha256: sha256.toString('hex'), source };
}

/** Returns the mark in a file's metadata; `null`: there is none, or its version is unknown. */
export function readMark(metadata: JsonObject): Mark | null {
  const mark: JsonValue = metadata[MARK_NAME] ?? null;
  if (typeof mark !== 'object' || mark === null || Array.isArray(mark)) return null;
  const { v, sha256, source } = mark as JsonObject;
  if (v !== VERSION || typeof sha256 !== 'string' || typeof source !== 'string') return null;
  return /^[0-9a-f]{64}$/u.test(sha256) ? { sha256, source } : null;
}
