import { bytesText, countText } from '../service/amounts.ts';
import { html, type Html } from '../web/html.ts';
import type { HistoryBucket } from '../domain/history.ts';
import type { PageFacts } from './facts.ts';
import { command, part } from './markup.ts';
import { renderPlot } from './plot.ts';

const BUCKET_MS = 15 * 60_000;
const BUCKETS = 96;

/** A quarter of an hour. */
interface Quarter {
  sentFiles: number;
  sentBytes: number;
  failed: number;
  /** The most in any of its minutes. */
  requests: number;
  /** Of the same minutes the lowest that is known. */
  limit: number | null;
}

/** The last 24 hours as plots. */
export function renderHistory({ history, requests, nowMs, commandEnd }: PageFacts): Html {
  const quarters = quartersOf(history, nowMs);
  const files = total(quarters, 'sentFiles');
  const bytes = total(quarters, 'sentBytes');
  const failed = total(quarters, 'failed');
  const perMinute = (value: number): string => `${value.toLocaleString('en')} a minute`;
  const limit = requests.limit === null ? '' : `; the limit is ${perMinute(Math.round(requests.limit))}`;
  const plots = [
    renderPlot({
      title: 'Files sent',
      values: quarters.map(({ sentFiles }) => sentFiles),
      format: (value) => `${countText(value, 'file')} in 15 min`,
      summary: countText(files, 'file'),
    }),
    renderPlot({
      title: 'Bytes sent',
      values: quarters.map(({ sentBytes }) => sentBytes),
      format: (value) => `${bytesText(value)} in 15 min`,
      summary: bytesText(bytes),
    }),
    renderPlot({
      title: 'Failures',
      values: quarters.map((quarter) => quarter.failed),
      isBad: true,
      format: (value) => `${value.toLocaleString('en')} in 15 min`,
      summary: failed === 0 ? 'none' : failed.toLocaleString('en'),
    }),
    renderPlot({
      title: 'Requests',
      values: quarters.map((quarter) => quarter.requests),
      limits: quarters.map((quarter) => quarter.limit),
      format: perMinute,
      summary: `${perMinute(requests.lastMinute)} now${limit}`,
    }),
  ];
  const content = html`<div class="card pad plots">${plots}</div>
    <p class="soft">As a table: ${command('history', commandEnd)}</p>`;
  return part('history', 'Last 24 hours', '', content);
}

function quartersOf(history: readonly HistoryBucket[], nowMs: number): Quarter[] {
  const beginMs = (Math.floor(nowMs / BUCKET_MS) + 1 - BUCKETS) * BUCKET_MS;
  const quarters = Array.from({ length: BUCKETS }, (): Quarter => ({
    sentFiles: 0,
    sentBytes: 0,
    failed: 0,
    requests: 0,
    limit: null,
  }));
  for (const { startMs, sentFiles, sentBytes, failed, requests, requestLimit } of history) {
    const quarter = quarters[Math.floor((startMs - beginMs) / BUCKET_MS)];
    if (quarter === undefined) continue;
    quarter.sentFiles += sentFiles;
    quarter.sentBytes += sentBytes;
    quarter.failed += failed;
    quarter.requests = Math.max(quarter.requests, requests);
    quarter.limit = requestLimit === null ? quarter.limit : Math.min(quarter.limit ?? Infinity, requestLimit);
  }
  return quarters;
}

function total(quarters: readonly Quarter[], count: 'sentFiles' | 'sentBytes' | 'failed'): number {
  return quarters.reduce((sum, one) => sum + one[count], 0);
}
