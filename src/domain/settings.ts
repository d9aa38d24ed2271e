import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject, type JsonValue } from './json.ts';

/** Who may read a file's content (interface.md, Create or update a file: `accessPolicies`). */
export type AccessPolicy = 'public_content' | 'integrations';

/** The treatment of a file that should be indexed and is larger than `limits.indexBytes`. */
export type WhenTooLargeToIndex = 'fail' | 'upload-without-index' | 'skip';

/** A lifetime from each upload, or a fixed moment (epoch milliseconds). */
export type Expiry =
  | { readonly kind: 'in'; readonly lifetimeMs: number; readonly renewal: Renewal | null }
  | { readonly kind: 'at'; readonly atMs: number };

/** A file is renewed this long before it expires. */
export interface Renewal {
  readonly beforeMs: number;
}

/** The settings of one file according to all rules: the content of its upsert, and botsync's own policies. */
export interface FileSettings {
  readonly index: boolean;
  readonly indexing: JsonObject | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly contentType: string;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly publicContentImmediatelyAccessible: boolean;
  readonly expiry: Expiry | null;
  readonly whenTooLargeToIndex: WhenTooLargeToIndex;
}

/**
 * The settings of one rule. Absent: no change. `null`: unsets the values of earlier rules. Tags and metadata merge name by name,
 * and `null` unsets one name; everything else replaces.
 */
export interface RuleSettings {
  readonly index?: boolean | null;
  readonly indexing?: JsonObject | null;
  readonly tags?: Readonly<Record<string, string | null>> | null;
  readonly metadata?: JsonObject | null;
  readonly contentType?: string | null;
  readonly accessPolicies?: readonly AccessPolicy[] | null;
  readonly publicContentImmediatelyAccessible?: boolean | null;
  /** `expiresIn` and `expiresAt` are two spellings of one setting, so the later rule wins. */
  readonly expires?:
    | { readonly kind: 'in'; readonly lifetimeMs: number }
    | { readonly kind: 'at'; readonly atMs: number }
    | null;
  readonly renew?: boolean | null;
  readonly renewBeforeMs?: number | null;
  readonly whenTooLargeToIndex?: WhenTooLargeToIndex | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The default renewal lead is a quarter of the lifetime, at most this. */
const LONGEST_DEFAULT_LEAD_MS = 2 * DAY_MS;

/**
 * Returns the settings of a file from its matching rules, in their order, and the content type that its name suggests.
 *
 * Limits a renewal lead to half the lifetime, and to the lifetime less the minute that rounding to whole minutes may cost:
 * otherwise a file would be due again right after it was sent.
 */
export function resolveSettings(rules: readonly RuleSettings[], suggestedContentType: string): FileSettings {
  const tags = new Map<string, string>();
  const metadata = new Map<string, JsonValue>();
  let scalars: Omit<RuleSettings, 'tags' | 'metadata'> = {};
  for (const { tags: ruleTags, metadata: ruleMetadata, ...ruleScalars } of rules) {
    merge(tags, ruleTags);
    merge(metadata, ruleMetadata);
    scalars = { ...scalars, ...ruleScalars };
  }
  return {
    index: scalars.index ?? false,
    indexing: scalars.indexing ?? null,
    tags: Object.fromEntries(tags),
    metadata: Object.fromEntries(metadata),
    contentType: scalars.contentType ?? suggestedContentType,
    accessPolicies: scalars.accessPolicies ?? [],
    publicContentImmediatelyAccessible: scalars.publicContentImmediatelyAccessible ?? false,
    expiry: resolveExpiry(scalars),
    whenTooLargeToIndex: scalars.whenTooLargeToIndex ?? 'fail',
  };
}

function merge<T>(into: Map<string, T>, from: Readonly<Record<string, T | null>> | null | undefined): void {
  if (from === null) into.clear();
  for (const [name, value] of Object.entries(from ?? {})) {
    if (value === null) into.delete(name);
    else into.set(name, value);
  }
}

function resolveExpiry({ expires, renew, renewBeforeMs }: RuleSettings): Expiry | null {
  if (!expires) return null;
  if (expires.kind === 'at') return expires;
  const { lifetimeMs } = expires;
  if (renew === false) return { kind: 'in', lifetimeMs, renewal: null };
  const wantedMs = renewBeforeMs ?? Math.min(lifetimeMs / 4, LONGEST_DEFAULT_LEAD_MS);
  const longestMs = Math.max(0, Math.min(lifetimeMs / 2, lifetimeMs - MINUTE_MS));
  return { kind: 'in', lifetimeMs, renewal: { beforeMs: Math.min(wantedMs, longestMs) } };
}

/**
 * Returns a digest of the settings that are sent to the platform. It changes exactly when the file must be sent again for its
 * settings; a renewal lead or a policy for too large files does not count.
 */
export function settingsDigest(settings: FileSettings): string {
  return createHash('sha256')
    .update(canonicalJson(sentSettingsOf(settings)))
    .digest('base64url')
    .slice(0, 22);
}

/** The settings that are sent to the platform, besides key and size; a lifetime in milliseconds, a moment in whole minutes. */
export interface SentSettings extends JsonObject {
  readonly index: boolean;
  readonly indexing: JsonObject | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly contentType: string;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly publicContentImmediatelyAccessible: boolean;
  readonly expiry: JsonObject | null;
}

/** Returns the settings that are sent to the platform; `settingsDigest` is made of them. */
export function sentSettingsOf(settings: FileSettings): SentSettings {
  const { expiry } = settings;
  return {
    index: settings.index,
    indexing: hasNames(settings.indexing) ? settings.indexing : null,
    tags: settings.tags,
    metadata: settings.metadata,
    contentType: settings.contentType,
    accessPolicies: settings.accessPolicies,
    publicContentImmediatelyAccessible: settings.publicContentImmediatelyAccessible,
    expiry: expiry && toldExpiry(expiry),
  };
}

export function isSentSettings(value: unknown): value is SentSettings {
  if (typeof value !== 'object' || value === null) return false;
  const { index, tags, metadata, contentType, accessPolicies } = value as Record<string, unknown>;
  const areObjects = [tags, metadata].every((one) => typeof one === 'object' && one !== null);
  return (
    typeof index === 'boolean' &&
    areObjects &&
    typeof contentType === 'string' &&
    Array.isArray(accessPolicies)
  );
}

/** The platform takes a moment in whole minutes. */
function toldExpiry(expiry: Expiry): JsonObject {
  return expiry.kind === 'at' ? { at: Math.floor(expiry.atMs / MINUTE_MS) } : { in: expiry.lifetimeMs };
}

/** Returns whether an `indexing` object is sent: an empty one has no effect. */
export function hasNames(indexing: JsonObject | null): indexing is JsonObject {
  return indexing !== null && Object.keys(indexing).length > 0;
}
