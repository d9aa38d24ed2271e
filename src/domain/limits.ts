import type { FileKey } from './key.ts';
import { checkExpiry } from './expiry.ts';
import type { JsonObject } from './json.ts';
import { MARK_NAME } from './mark.ts';
import type { FileRefusal } from './obstacle.ts';
import type { ResolvedSettings } from './rules.ts';
import { hasNames, settingsDigest, type AccessPolicy, type FileSettings } from './settings.ts';

export interface Limits {
  /** Largest file that may be indexed, bytes. */
  readonly indexBytes: number;
  /** Largest file that is sent at all, bytes. */
  readonly fileBytes: number;
  /** Extensions (without dot, lower case) that the platform is known to index; others only cause a warning. */
  readonly indexableExtensions: readonly string[];
}

export type Admission =
  | { readonly kind: 'send'; readonly resolved: ResolvedSettings }
  | { readonly kind: 'skip'; readonly reason: FileRefusal }
  | { readonly kind: 'refuse'; readonly reason: FileRefusal };

/** The body of an upsert (interface.md, Create or update a file: Request body). Sizes in bytes, `expiresAt` ISO 8601. */
export interface UpsertBody {
  readonly key: FileKey;
  readonly size: number;
  readonly index: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly contentType: string;
  readonly indexing?: JsonObject;
  readonly expiresAt?: string;
  readonly publicContentImmediatelyAccessible?: true;
}

/** A valid upsert with its expiry in epoch milliseconds, or why the file is not sent. */
export type PreparedUpsert =
  | { readonly kind: 'ready'; readonly body: UpsertBody; readonly expiresAtMs: number | null }
  | { readonly kind: 'refuse'; readonly reason: FileRefusal };

/** platform-facts.md, Files: a tag's value has at most 1,000 characters. */
export const LONGEST_TAG_VALUE = 1000;

/** platform-facts.md, Files: a JSON body has at most 1 MB. */
export const LARGEST_BODY_BYTES = 1_000_000;

/**
 * Checks a file's size against the limits (interface.md, Limits: Indexing size; platform-facts.md: 1 GB a file). The returned
 * settings may be without `index` where the rule allows that.
 */
export function admit(resolved: ResolvedSettings, sizeBytes: number, limits: Limits): Admission {
  if (sizeBytes > limits.fileBytes)
    return refuse({ kind: 'too-large', sizeBytes, limitBytes: limits.fileBytes });
  const { settings } = resolved;
  if (!settings.index || sizeBytes <= limits.indexBytes) return { kind: 'send', resolved };
  const reason = { kind: 'too-large-to-index', sizeBytes, limitBytes: limits.indexBytes } as const;
  switch (settings.whenTooLargeToIndex) {
    case 'fail':
      return refuse({ ...reason, isSkipped: false });
    case 'skip':
      return { kind: 'skip', reason: { ...reason, isSkipped: true } };
    case 'upload-without-index': {
      const unindexed: FileSettings = { ...settings, index: false, indexing: null };
      return { kind: 'send', resolved: { settings: unindexed, digest: settingsDigest(unindexed) } };
    }
  }
}

/**
 * Returns the body of a file's upsert, checked against the platform's limits (interface.md, Create or update a file and Limits).
 * `nowMs` is the platform's time, epoch milliseconds.
 *
 * Tags, metadata, access policies and index are included even when empty: an update without a field may keep the old value.
 *
 * @param mark - for the metadata, to recognise the content by (see `markOf`).
 */
export function prepareUpsert(
  key: FileKey,
  sizeBytes: number,
  settings: FileSettings,
  nowMs: number,
  mark: JsonObject | null = null,
): PreparedUpsert {
  if (key.includes('\\')) return refuse({ kind: 'backslash-in-key' });
  const long = Object.entries(settings.tags).find(([, value]) => charactersOf(value) > LONGEST_TAG_VALUE);
  if (long) return refuse({ kind: 'tag-too-long', tag: long[0], mostCharacters: LONGEST_TAG_VALUE });
  if (settings.publicContentImmediatelyAccessible && !settings.accessPolicies.includes('public_content'))
    return refuse({ kind: 'no-public-policy' });
  const expiry = settings.expiry && checkExpiry(settings.expiry, nowMs);
  if (expiry?.kind === 'out-of-range') return refuse(expiry.fault);
  const body: UpsertBody = {
    key,
    size: sizeBytes,
    index: settings.index,
    tags: settings.tags,
    metadata: mark === null ? settings.metadata : { ...settings.metadata, [MARK_NAME]: mark },
    accessPolicies: settings.accessPolicies,
    contentType: settings.contentType,
    ...(hasNames(settings.indexing) && { indexing: settings.indexing }),
    ...(expiry && { expiresAt: new Date(expiry.expiresAtMs).toISOString() }),
    ...(settings.publicContentImmediatelyAccessible && { publicContentImmediatelyAccessible: true }),
  };
  if (sharedBytes(settings) + MARK_BYTES + key.length * MOST_JSON_BYTES_A_CHARACTER > LARGEST_BODY_BYTES)
    return refuse({ kind: 'request-too-large', limitBytes: LARGEST_BODY_BYTES });
  return { kind: 'ready', body, expiresAtMs: expiry ? expiry.expiresAtMs : null };
}

/** Returns the size of a body without the key and the numbers, bytes. Cached, because files share their settings. */
function sharedBytes(settings: FileSettings): number {
  let bytes = knownBytes.get(settings);
  if (bytes === undefined) {
    bytes = Buffer.byteLength(JSON.stringify(settings));
    knownBytes.set(settings, bytes);
  }
  return bytes;
}

const knownBytes = new WeakMap<FileSettings, number>();

/** More than any mark takes. Always counted, so that whether a file is accepted does not depend on its mark. */
const MARK_BYTES = 2000;

/** A control character becomes an escape of six characters. */
const MOST_JSON_BYTES_A_CHARACTER = 6;

function refuse(reason: FileRefusal): { readonly kind: 'refuse'; readonly reason: FileRefusal } {
  return { kind: 'refuse', reason };
}

/** Returns the number of characters in a text: one beyond U+FFFF counts once, though JavaScript counts it twice. */
export function charactersOf(text: string): number {
  return Array.from(text).length;
}
