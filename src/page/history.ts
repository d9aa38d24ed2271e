import { bytesText, countText } from '../service/amounts.ts';
import { html, Html } from './html.ts';
import type { HistoryBucket } from '../domain/history.ts';
import type { PageFacts } from './facts.ts';
import { command, part } from './markup.ts';
import { escapeControls } from '../domain/escape.ts';

const BUCKET_MS = 15 * 60_000;
const BUCKETS = 96;

interface Quarter {
  sentFiles: number;
  sentBytes: number;
  failed: number;
  /** The maximum of its minutes. */
  requests: number;
  /** The lowest known limit of its minutes. */
  limit: number | null;
}

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

interface Plot {
  readonly title: string;
  /** One number a bar, oldest first. */
  readonly values: readonly number[];
  readonly isBad?: boolean;
  /** A limit for each bar; `null` if not known at that time. */
  readonly limits?: readonly (number | null)[];
  /** Formats a value with its unit. */
  readonly format: (value: number) => string;
  /** A sentence about all values. */
  readonly summary: string;
}

const HEIGHT = 48;

/** Width of a bar, and distance from one bar to the next. */
const BAR = 2.2;
const STEP = 3;

/** Draws bars, hidden from screen readers: for them the summary says enough. */
function renderPlot({ title, values, isBad = false, limits = [], format, summary }: Plot): Html {
  const most = Math.max(0, ...values);
  const top = Math.max(most, ...limits.map((limit) => limit ?? 0)) || 1;
  const height = (value: number): number => (value === 0 ? 0 : Math.max(1, (value / top) * HEIGHT));
  const bars = values
    .map((value, index) => {
      const tall = height(value);
      return tall === 0 ? '' : `M${round(index * STEP)} ${HEIGHT}v-${round(tall)}h${BAR}V${HEIGHT}z`;
    })
    .join('');
  const line = limits
    .map((limit, index) =>
      limit === null ? '' : `M${round(index * STEP)} ${round(HEIGHT - height(limit))}h${STEP}`,
    )
    .join('');
  const width = values.length * STEP;
  return html`<figure class="plot">
    <figcaption><strong>${title}</strong> <span class="soft">${summary}</span></figcaption>
    <svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <path class="${isBad ? 'bar-bad' : 'bar'}" d="${new Html(bars)}"></path>
      ${line === '' ? html`` : html`<path class="limit" d="${new Html(line)}"></path>`}
    </svg>
    <p class="axis soft" aria-hidden="true">
      <span>24 h ago</span><span>${most === 0 ? '' : `peak: ${escapeControls(format(most))}`}</span
      ><span>now</span>
    </p>
  </figure> `;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
