import type { SendReason, VerifyReason } from './decide.ts';
import { otherFacts } from './facts.ts';
import type { ListedFile, FactsUpdate } from './file-catalog.ts';
import { canonicalJson, type JsonObject } from './json.ts';
import type { UpsertBody } from './limits.ts';
import { differenceOf, type FileRecord } from './record.ts';
import type { ToldSettings } from './settings.ts';

/**
 * Whether a file is as it was sent but for what can be told of it without its content: by its record, for which the
 * platform confirmed the content. What changed in the settings is another question, and whether the file has that content
 * still where its fingerprint is not trusted.
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
      // Other settings are a reason to try again to index it.
      return reason === 'renewal-due';
  }
}

/** Whether the way from some settings to others takes no content: what is indexed, and how, needs sending. */
export function needsNoContent(before: ToldSettings, after: ToldSettings): boolean {
  return (
    before.index === after.index &&
    before.contentType === after.contentType &&
    before.publicContentImmediatelyAccessible === after.publicContentImmediatelyAccessible &&
    canonicalJson(before.indexing) === canonicalJson(after.indexing)
  );
}

/** What a change in place comes to. */
export interface PlannedUpdate {
  readonly facts: FactsUpdate;
  /** Names that the file must not have afterwards. */
  readonly goneTags: readonly string[];
  readonly goneMetadata: readonly string[];
}

/**
 * The update that brings a file to what its upsert would say. Names that it was told before and that the rules do not give
 * any more are taken back; names that others set stay.
 *
 * @param before - all that the file may have been told.
 * @param mark - of its content; `null`: it gets none.
 */
export function planUpdate(
  body: UpsertBody,
  expiresAtMs: number | null,
  before: readonly ToldSettings[],
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

/** Whether a file is what it should be after an update. `sizeBytes`: of its content. */
export function isUpdated(
  file: ListedFile,
  { facts, goneTags, goneMetadata }: PlannedUpdate,
  told: ToldSettings,
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
