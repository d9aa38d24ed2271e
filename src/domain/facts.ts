import type { ListedFile } from './file-catalog.ts';
import { canonicalJson } from './json.ts';
import type { SentSettings } from './settings.ts';

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
