import type { DifferenceReason, Verified } from '../domain/status.ts';

export const DIFFERENCE_WORDS: Readonly<Record<DifferenceReason, string>> = {
  missing: 'missing',
  size: 'another size',
  content: 'another content',
  failed: 'failed',
  pending: 'pending',
  facts: 'other settings',
  replaced: 'replaced',
  unsent: 'not sent',
  'not-removed': 'not removed',
  orphan: 'orphan',
};

/** Returns the counts of a comparison in one line. */
export function describeVerified({ compared, same, foreign, busy, unread, reasons }: Verified): string {
  const found = Object.entries(reasons) as [DifferenceReason, number][];
  const rest = [
    ...found.map(([reason, count]) => counted(count, DIFFERENCE_WORDS[reason])),
    ...(unread > 0 ? [counted(unread, 'could not be read')] : []),
    ...(busy > 0 ? [counted(busy, 'skipped, being sent')] : []),
    ...(foreign > 0 ? [counted(foreign, 'by others')] : []),
  ];
  const files = counted(compared, compared === 1 ? 'file' : 'files');
  const as = same === 1 ? 'is as it was sent' : 'are as they were sent';
  return `${headOf(found.length > 0, unread > 0)}: ${counted(same, 'of')} ${files} ${as}${rest.length === 0 ? '' : `; ${rest.join(', ')}`}`;
}

function headOf(areFound: boolean, areUnread: boolean): string {
  if (areFound) return 'Differences found';
  return areUnread ? 'Not everything could be compared' : 'No differences';
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}`;
}
