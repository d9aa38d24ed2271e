import type { ListedFile } from './file-catalog.ts';
import { canonicalJson } from './json.ts';
import type { ToldSettings } from './settings.ts';

/** What is told of a file besides its content, its key and its expiry. */
export type Fact = 'index' | 'contentType' | 'tags' | 'metadata' | 'accessPolicies';

/**
 * Which facts of a file on the platform are not what it was told. Tags and metadata that others gave it do not count, and
 * what an answer left out is taken to be as it was told.
 */
export function otherFacts(file: ListedFile, told: ToldSettings): Fact[] {
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

/** Spelled in one way: letters and spaces do not count. */
function mediaType(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/gu, '');
}
