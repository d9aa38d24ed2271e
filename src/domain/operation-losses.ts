import type { OptionalOperation } from './file-catalog.ts';

/** What botsync does without where an operation is not served, in words that follow a "so". */
export const LOSSES: Readonly<Record<OptionalOperation, string>> = {
  list: 'what is sent cannot be confirmed, and what the bot has cannot be compared',
  get: 'removed files cannot be looked at before they are deleted, and are let expire instead',
  update: 'files whose settings change, or that are to be renewed, are sent again',
  delete: 'removed files are let expire instead',
  search: 'nothing can be searched for',
  passages: 'what was made of a file cannot be shown',
  usage: 'quotas cannot be told',
};
