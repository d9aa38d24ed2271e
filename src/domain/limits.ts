import type { FileKey } from './key.ts';
import { checkExpiry } from './expiry.ts';
import type { JsonObject } from './json.ts';
import { MARK_NAME } from './mark.ts';
import type { ResolvedSettings } from './rules.ts';
import { hasNames, settingsDigest, type AccessPolicy, type FileSettings } from './settings.ts';

/** The config's `limits`. */
export interface Limits {
  /** Largest file that may be indexed, bytes. */
  readonly indexBytes: number;
  /** Largest file that is sent at all, bytes. */
  readonly fileBytes: number;
  /** Extensions (without dot, lower case) that the platform is known to index; others only draw a warning. */
  readonly indexableExtensions: readonly string[];
}

/** What the size of a file makes of its settings. */
export type Admission =
  | { readonly kind: 'send'; readonly resolved: ResolvedSettings }
  | { readonly kind: 'skip'; readonly reason: string }
  | { readonly kind: 'refuse'; readonly reason: string };

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

/** An upsert that may be sent, with its expiry in epoch milliseconds; or why the file is not sent. */
export type PreparedUpsert =
  | { readonly kind: 'ready'; readonly body: UpsertBody; readonly expiresAtMs: number | null }
  | { readonly kind: 'refuse'; readonly reason: string };

/** platform-facts.md, Files: a tag's value has at most 1,000 characters. */
export const LONGEST_TAG_VALUE = 1000;

/** platform-facts.md, Files: a JSON body has at most 1 MB. */
export const LARGEST_BODY_BYTES = 1_000_000;

/**
 * Holds a file's size against the limits (interface.md, Limits: Indexing size; platform-facts.md: 1 GB a file).
 * What comes back may be without `index` where the rule allows that.
 */
export function admit(resolved: ResolvedSettings, sizeBytes: number, limits: Limits): Admission {
  if (sizeBytes > limits.fileBytes) {
    return refuse(`${count(sizeBytes)} bytes are more than limits.fileBytes (${count(limits.fileBytes)})`);
  }
  const { settings } = resolved;
  if (!settings.index || sizeBytes <= limits.indexBytes) return { kind: 'send', resolved };
  const reason = `too large to index: ${count(sizeBytes)} bytes are more than limits.indexBytes (${count(limits.indexBytes)})`;
  switch (settings.whenTooLargeToIndex) {
    case 'fail':
      return refuse(`${reason}; set "whenTooLargeToIndex" in a rule: "upload-without-index" or "skip"`);
    case 'skip':
      return { kind: 'skip', reason };
    case 'upload-without-index': {
      const unindexed: FileSettings = { ...settings, index: false, indexing: null };
      return { kind: 'send', resolved: { settings: unindexed, digest: settingsDigest(unindexed) } };
    }
  }
}

/**
 * The exact body of a file's upsert, checked against the rules that the platform states
 * (interface.md, Create or update a file and Limits). `nowMs` is the platform's time, epoch milliseconds.
 *
 * Tags, metadata, access policies and index are always said, also when empty: an update that leaves a field out may
 * leave the old value standing.
 *
 * @param mark - what is left in the metadata to recognise the content by (see `markOf`).
 */
export function prepareUpsert(
  key: FileKey,
  sizeBytes: number,
  settings: FileSettings,
  nowMs: number,
  mark: JsonObject | null = null,
): PreparedUpsert {
  if (key.includes('\\'))
    return refuse('the key has a backslash, which the platform may refuse; rename the file');
  const long = Object.entries(settings.tags).find(([, value]) => charactersOf(value) > LONGEST_TAG_VALUE);
  if (long)
    return refuse(`the value of tag "${long[0]}" has more than ${count(LONGEST_TAG_VALUE)} characters`);
  if (settings.publicContentImmediatelyAccessible && !settings.accessPolicies.includes('public_content')) {
    return refuse('publicContentImmediatelyAccessible needs "public_content" in accessPolicies');
  }
  const expiry = settings.expiry && checkExpiry(settings.expiry, nowMs);
  if (expiry?.kind === 'out-of-range') return refuse(expiry.reason);
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
  if (sharedBytes(settings) + MARK_BYTES + key.length * MOST_JSON_BYTES_A_CHARACTER > LARGEST_BODY_BYTES) {
    return refuse(`tags and metadata make the request larger than ${count(LARGEST_BODY_BYTES)} bytes`);
  }
  return { kind: 'ready', body, expiresAtMs: expiry ? expiry.expiresAtMs : null };
}

/** What all but the key and the numbers make of a body, bytes. Files share their settings, so it is worth remembering. */
function sharedBytes(settings: FileSettings): number {
  let bytes = knownBytes.get(settings);
  if (bytes === undefined) {
    bytes = Buffer.byteLength(JSON.stringify(settings));
    knownBytes.set(settings, bytes);
  }
  return bytes;
}

const knownBytes = new WeakMap<FileSettings, number>();

/** More than any mark takes; whether a file is taken does not depend on whether it gets one. */
const MARK_BYTES = 2000;

/** A control character becomes an escape of six. */
const MOST_JSON_BYTES_A_CHARACTER = 6;

function refuse(reason: string): { readonly kind: 'refuse'; readonly reason: string } {
  return { kind: 'refuse', reason };
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** How many characters a text has: one beyond the first 65,536 is one, though JavaScript counts two. */
export function charactersOf(text: string): number {
  return Array.from(text).length;
}
