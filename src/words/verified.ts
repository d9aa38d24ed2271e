import type { DifferenceReason } from '../sync/catalog/compare.ts';
import type { Verified } from '../sync/plan/verify.ts';

/** What people read for a reason why a file on the platform differs. */
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

/** The counts of a comparison in a line for people. */
export function describeVerified({ compared, same, foreign, busy, unread, reasons }: Verified): string {
  const found = Object.entries(reasons) as [DifferenceReason, number][];
  const rest = [
    ...found.map(([reason, count]) => counted(count, DIFFERENCE_WORDS[reason])),
    ...(unread > 0 ? [counted(unread, 'could not be read')] : []),
    ...(busy > 0 ? [counted(busy, 'skipped, being sent')] : []),
    ...(foreign > 0 ? [counted(foreign, 'by others')] : []),
  ];
  const head = found.length === 0 && unread === 0 ? 'As it was sent' : 'NOT AS IT WAS SENT';
  return `${head}: ${counted(same, 'of')} ${counted(compared, compared === 1 ? 'file' : 'files')}${rest.length === 0 ? '' : `; ${rest.join(', ')}`}`;
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}`;
}
