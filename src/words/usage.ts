import { QUOTAS, type Additions, type Excess, type Quota, type Usages } from '../domain/usage.ts';

/** What is used and allowed, and what a plan would add, as lines for people. The numbers are the platform's own. */
export function describeUsage(usages: Usages, additions: Additions | null): string[] {
  const known = QUOTAS.filter((quota) => usages[quota] !== null);
  return known.map((quota) => {
    const added = additions?.[quota] ?? null;
    const largest = quota === 'largestFile';
    const plan = added === null ? '' : largest ? `; to send: ${figure(added)}` : `; to add: ${figure(added)}`;
    return `${QUOTA_NAMES[quota]}: ${describeOne(usages, quota)}${plan}`;
  });
}

/** What is used, allowed and added, for programs. */
export function usageForPrograms(usages: Usages, additions: Additions | null): object {
  const entries = QUOTAS.map((quota) => {
    const usage = usages[quota];
    return [quota, usage && { ...usage, ...(additions !== null && { added: additions[quota] }) }];
  });
  return Object.fromEntries(entries) as object;
}

function describeOne(usages: Usages, quota: Quota): string {
  const { used = 0, allowed = null } = usages[quota] ?? {};
  if (quota === 'largestFile' && allowed !== null) return `${figure(used)}, ${figure(allowed)} allowed`;
  return allowed === null ? `${figure(used)} used` : `${figure(used)} of ${figure(allowed)} used`;
}

/** What people read for a quota. */
const QUOTA_NAMES: Readonly<Record<Quota, string>> = {
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
function figure(amount: number): string {
  return amount.toLocaleString('en');
}
