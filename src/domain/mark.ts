import type { JsonObject, JsonValue } from './json.ts';

/** The name in a file's metadata under which botsync says what it sent. */
export const MARK_NAME = 'botsync';

const VERSION = 1;

/** What botsync leaves in the metadata of a file that it sent. */
export interface Mark {
  /** SHA-256 of the content, lower-case hexadecimal. */
  readonly sha256: string;
  /** The source that it came from. */
  readonly source: string;
}

/** The mark of a content as it stands in the metadata. */
export function markOf(sha256: Buffer, source: string): JsonObject {
  return { v: VERSION, sha256: sha256.toString('hex'), source };
}

/** The mark in the metadata of a file; `null`: it has none, or one of a version that is not known. */
export function readMark(metadata: JsonObject): Mark | null {
  const mark: JsonValue = metadata[MARK_NAME] ?? null;
  if (typeof mark !== 'object' || mark === null || Array.isArray(mark)) return null;
  const { v, sha256, source } = mark as JsonObject;
  if (v !== VERSION || typeof sha256 !== 'string' || typeof source !== 'string') return null;
  return /^[0-9a-f]{64}$/u.test(sha256) ? { sha256, source } : null;
}
