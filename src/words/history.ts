import { busiest, together, type HistoryBucket } from '../domain/history.ts';
import { bytesText } from '../service/amounts.ts';
import { counted } from './quantity.ts';

/** Returns the work of a time as a sentence without its end, such as "3 files sent (2 MB), 1 failed; 9 requests". */
export function describeDoings(buckets: readonly HistoryBucket[]): string {
  const all = together(buckets, { startMs: 0, spanMs: 0 });
  const { sentFiles, sentBytes, requests, throttled, requestLimit } = all;
  const counts: readonly (readonly [number, string])[] = [
    [all.updated, 'with other settings'],
    [all.adopted, 'there already'],
    [all.removed, 'removed'],
    [all.failed, 'failed'],
    [all.refused, 'refused'],
  ];
  const others = counts.flatMap(([count, what]) =>
    count > 0 ? [`${count.toLocaleString('en')} ${what}`] : [],
  );
  const sent = `${counted(sentFiles, 'file')} sent${sentFiles > 0 ? ` (${bytesText(sentBytes)})` : ''}`;
  const allowed = requestLimit === null ? '' : ` of ${requestLimit.toLocaleString('en')}`;
  const rate = requests === 0 ? '' : `, at most ${busiest(buckets).toLocaleString('en')}${allowed} a minute`;
  const limited = throttled === 0 ? '' : `, ${throttled.toLocaleString('en')} over the rate limit`;
  return `${[sent, ...others].join(', ')}; ${counted(requests, 'request')}${rate}${limited}`;
}
