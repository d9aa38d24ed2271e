import type { OptionalOperation } from './file-catalog.ts';

/** What botsync does without where an operation is not served, in words that follow a "so". */
export const LOSSES: Readonly<Record<OptionalOperation, string>> = {
  list: "uploads cannot be confirmed, and the bot's files cannot be verified",
  get: 'deleted files cannot be checked first, and expire instead',
  update: 'files with changed settings or due renewals are sent again',
  delete: 'deleted files expire instead',
  search: 'search does not work',
  passages: 'passages cannot be shown',
  usage: 'quotas are not known',
};
