import type { ResolvedSettings } from './rules.ts';
import type { SendReason, VerifyReason } from './decide.ts';
import type { ListedFile, FactsUpdate } from './file-catalog.ts';
import { canonicalJson, type JsonObject } from './json.ts';
import type { UpsertBody } from './limits.ts';
import { differenceOf, type FileRecord } from './record.ts';
import { sentSettingsOf, type SentSettings } from './settings.ts';

/**
 * Returns whether the platform has confirmed the file's content, so that at most its settings have to be sent. Does not compare
 * settings, and does not check content behind an untrusted fingerprint.
 */
export function isContentConfirmed(record: FileRecord, reason: SendReason | VerifyReason): boolean {
  const differs = differenceOf(record);
  if (record.state !== 'synced' || (differs !== null && differs !== 'facts')) return false;
  switch (record.verdict) {
    case null:
      return false;
    case 'stored':
    case 'searchable':
      return reason === 'settings-changed' || reason === 'renewal-due' || reason === 'differs';
    case 'unsearchable':
      // New settings are a reason to send the file again for indexing.
      return reason === 'renewal-due';
  }
}

/** Returns whether new settings can be sent without the content: a change of what is indexed, and how, needs it. */
function needsNoContent(before: SentSettings, after: SentSettings): boolean {
  return (
    before.index === after.index &&
    before.contentType === after.contentType &&
    before.publicContentImmediatelyAccessible === after.publicContentImmediatelyAccessible &&
    canonicalJson(before.indexing) === canonicalJson(after.indexing)
  );
}

/**
 * Returns a function that decides whether settings can be changed from one digest to others without sending content. It
 * caches its answers: a million files have a handful of settings.
 *
 * @param toldSettings - returns the settings that were sent under a digest; `null`: no longer known.
 * @param canUpdate - returns whether the platform supports changes without content.
 */
export function settingsComparer(
  toldSettings: (digest: string) => SentSettings | null,
  canUpdate: () => boolean,
): (before: string, after: ResolvedSettings) => boolean {
  const known = new Map<string, boolean>();
  const compare = (before: string, after: ResolvedSettings): boolean => {
    if (before === after.digest) return true;
    const told = toldSettings(before);
    return told !== null && needsNoContent(told, sentSettingsOf(after.settings));
  };
  return (before, after) => {
    if (!canUpdate()) return false;
    const id = `${before} ${after.digest}`;
    const answer = known.get(id) ?? compare(before, after);
    known.set(id, answer);
    return answer;
  };
}

export interface PlannedUpdate {
  readonly facts: FactsUpdate;
  /** Names that the file must not have afterwards. */
  readonly goneTags: readonly string[];
  readonly goneMetadata: readonly string[];
}

/**
 * Returns the update that has the same effect as an upsert of the file. Takes back names that botsync set and the rules no longer
 * have; keeps names that others set.
 *
 * @param before - all settings that the file may have been sent with.
 * @param mark - of its content; `null`: none is set.
 */
export function planUpdate(
  body: UpsertBody,
  expiresAtMs: number | null,
  before: readonly SentSettings[],
  mark: JsonObject | null,
): PlannedUpdate {
  const goneTags = goneNames(
    before.map(({ tags }) => tags),
    body.tags,
  );
  const metadata = { ...body.metadata, ...mark };
  const goneMetadata = goneNames(
    before.map((told) => told.metadata),
    metadata,
  );
  const nulls = (names: readonly string[]): Record<string, null> =>
    Object.fromEntries(names.map((name) => [name, null]));
  return {
    facts: {
      tags: { ...nulls(goneTags), ...body.tags },
      metadata: { ...nulls(goneMetadata), ...metadata },
      accessPolicies: body.accessPolicies,
      expiresAtMs,
    },
    goneTags,
    goneMetadata,
  };
}

/** Returns whether a file is as an update should have left it. */
export function isUpdated(
  file: ListedFile,
  { facts, goneTags, goneMetadata }: PlannedUpdate,
  told: SentSettings,
  { remoteId, sizeBytes }: { readonly remoteId: string; readonly sizeBytes: number },
): boolean {
  return (
    file.id === remoteId &&
    file.sizeBytes === sizeBytes &&
    file.expiresAtMs === facts.expiresAtMs &&
    otherFacts(file, told).length === 0 &&
    !goneTags.some((name) => Object.hasOwn(file.tags, name)) &&
    !goneMetadata.some((name) => Object.hasOwn(file.metadata, name))
  );
}

function goneNames(before: readonly object[], after: object): string[] {
  const names = new Set(before.flatMap((one) => Object.keys(one)));
  return [...names].filter((name) => !Object.hasOwn(after, name));
}

export type Fact = 'index' | 'contentType' | 'tags' | 'metadata' | 'accessPolicies';

/**
 * Returns the settings of a file on the platform that differ from those it was sent with. Ignores tags and metadata that others
 * added, and settings that the answer left out.
 */
export function otherFacts(file: ListedFile, told: SentSettings): Fact[] {
  const others: Fact[] = [];
  if (file.index !== null && file.index !== told.index) others.push('index');
  if (file.contentType !== null && !isSameType(file.contentType, told.contentType))
    others.push('contentType');
  if (Object.entries(told.tags).some(([name, value]) => file.tags[name] !== value)) others.push('tags');
  const hasOtherMetadata = Object.entries(told.metadata).some(
    ([name, value]) => canonicalJson(file.metadata[name] ?? null) !== canonicalJson(value),
  );
  if (hasOtherMetadata) others.push('metadata');
  const policies = (names: readonly string[]): string => [...new Set(names)].sort().join();
  if (policies(file.accessPolicies) !== policies(told.accessPolicies)) others.push('accessPolicies');
  return others;
}

function isSameType(one: string, other: string): boolean {
  return one === other || mediaType(one) === mediaType(other);
}

/** Ignores case and spaces. */
function mediaType(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/gu, '');
}
