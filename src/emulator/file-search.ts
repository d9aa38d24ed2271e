import type { FileStatus } from './file-status.ts';

/** What a file may be besides its status. */
export const FILE_TRAITS = ['indexed', 'not-indexed', 'public', 'expiring'] as const;

/** One of them. */
export type FileTrait = (typeof FILE_TRAITS)[number];

/** In which order files are shown: by key, or what changed last first. */
export const FILE_SORTS = ['key', 'latest'] as const;

/** One of them. */
export type FileSort = (typeof FILE_SORTS)[number];

/** Files of a bot that people look for. */
export interface FileSearch {
  readonly botId: string;
  /** Part of the key, in whatever case; empty for all. */
  readonly contains: string;
  readonly status: FileStatus | null;
  readonly trait: FileTrait | null;
  readonly sort: FileSort;
}

/** The end of a statement from its WHERE on, without a limit, and what to bind. */
export function buildFileSearch({ botId, contains, status, trait, sort }: FileSearch): {
  where: string;
  order: string;
  parameters: string[];
} {
  const conditions = ['bot_id = ?'];
  const parameters = [botId];
  if (contains !== '') {
    conditions.push('key_contains(key, ?)');
    parameters.push(contains);
  }
  if (trait !== null) conditions.push(TRAIT_CONDITIONS[trait]);
  if (status !== null) {
    conditions.push('file_status(key, indexed, life) = ?');
    parameters.push(status);
  }
  return { where: conditions.join(' AND '), order: SORT_ORDERS[sort], parameters };
}

/** Whether a key contains a text, in whatever case. */
export function keyContains(key: string, text: string): boolean {
  return key.toLowerCase().includes(text.toLowerCase());
}

const TRAIT_CONDITIONS: Readonly<Record<FileTrait, string>> = {
  indexed: 'indexed = 1',
  'not-indexed': 'indexed = 0',
  public: `EXISTS (SELECT 1 FROM json_each(details, '$.accessPolicies') WHERE value = 'public_content')`,
  expiring: 'expires_at IS NOT NULL',
};

const SORT_ORDERS: Readonly<Record<FileSort, string>> = {
  key: 'key, integration_id',
  latest: 'max(updated_at, coalesce(uploaded_at, 0)) DESC, key, integration_id',
};
