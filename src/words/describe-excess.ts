import type { Excess, Quota } from '../domain/usage.ts';

/** What people read for a quota. */
export const QUOTA_NAMES: Readonly<Record<Quota, string>> = {
  storage: 'storage',
  vectorStorage: 'vector storage',
  indexedFiles: 'indexed files',
  largestFile: 'largest file',
};

/** That a plan would go over a quota, if the platform counts as botsync does. */
export function describeExcess({ quota, used, allowed, added }: Excess): string {
  const limits = `the platform allows ${figure(allowed)}`;
  const what =
    quota === 'largestFile'
      ? `the largest file to send has ${figure(added)} bytes, and ${limits}`
      : `${figure(added)} would be added to ${figure(used)}, and ${limits}`;
  return `the quota of ${QUOTA_NAMES[quota]} may not suffice: ${what}; no file is held back because of this`;
}

/** A number of bytes or files, as people read it. */
export function figure(amount: number): string {
  return amount.toLocaleString('en');
}
