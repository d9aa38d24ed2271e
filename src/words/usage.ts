import { QUOTAS, type Additions, type Excess, type Quota, type Usages } from '../domain/usage.ts';

/** The reported use of a quota in words. The numbers are the platform's. */
export interface QuotaWords {
  readonly quota: Quota;
  readonly name: string;
  /** The use and the limit. */
  readonly text: string;
}

export function quotaWords(usages: Usages): QuotaWords[] {
  const known = QUOTAS.filter((quota) => usages[quota] !== null);
  return known.map((quota) => ({ quota, name: QUOTA_NAMES[quota], text: describeOne(usages, quota) }));
}

/** Returns a line for each quota: use, limit and the addition of a plan. */
export function describeUsage(usages: Usages, additions: Additions | null): string[] {
  return quotaWords(usages).map(({ quota, name, text }) => {
    const added = additions?.[quota] ?? null;
    const largest = quota === 'largestFile';
    const plan = added === null ? '' : largest ? `; to send: ${figure(added)}` : `; to add: ${figure(added)}`;
    return `${name}: ${text}${plan}`;
  });
}

/** Returns use, limit and addition for JSON output. */
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

const QUOTA_NAMES: Readonly<Record<Quota, string>> = {
  storage: 'storage',
  vectorStorage: 'vector storage',
  indexedFiles: 'indexed files',
  largestFile: 'largest file',
};

/** Reports that a plan would exceed a quota, if the platform counts like botsync. */
export function describeExcess({ quota, used, allowed, added }: Excess): string {
  const limits = `the platform allows ${figure(allowed)}`;
  const what =
    quota === 'largestFile'
      ? `the largest file to send has ${figure(added)} bytes, and ${limits}`
      : `${figure(added)} would be added to ${figure(used)}, and ${limits}`;
  return `the quota of ${QUOTA_NAMES[quota]} may not suffice: ${what}; no file is held back because of this`;
}

function figure(amount: number): string {
  return amount.toLocaleString('en');
}
