import type { Condition } from './conditions.ts';

/** What the platform is like at present, for people: a sentence a condition. */
export function describeConditions(conditions: readonly Condition[]): string[] {
  return conditions.map(describe);
}

function describe(condition: Condition): string {
  switch (condition.kind) {
    case 'refused':
      return 'Nobody listens.';
    case 'unavailable':
      return `Every request is answered with ${condition.status ?? 503}.`;
    case 'slow-store':
      return `Uploads are read at ${condition.bytesPerSecond.toLocaleString('en')} bytes per second.`;
    case 'rate-limit': {
      const { requests, windowMs } = condition.rateLimit;
      return `At most ${requests.toLocaleString('en')} requests are taken in ${windowMs / 1000} s.`;
    }
    case 'lagging-list':
      return `Lists show what was there ${condition.lagMs === Infinity ? 'when this began' : `${condition.lagMs / 1000} s ago`}.`;
    case 'new-ids':
      return 'A file that is sent again gets a new id.';
    case 'pending-again':
      return `Files are pending again: ${condition.keys ?? '**'}.`;
    case 'late-limits':
      return 'Limits are looked at only when the content is there.';
    case 'failing-uploads':
      return `Content of ${condition.keys} is refused: ${condition.reason}`;
    case 'failing-indexing':
      return `Indexing of ${condition.keys} fails: ${condition.reason}`;
    case 'slow-notice':
      return condition.delayMs === Infinity
        ? 'Content that arrives is never noticed.'
        : `Content that arrives is noticed after ${condition.delayMs / 1000} s.`;
    case 'updates-reindex':
      return 'A file whose facts change is indexed again.';
  }
}
