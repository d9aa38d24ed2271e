import { bytesText, countText } from '../service/amounts.ts';
import { html, Html } from './html.ts';
import { HOUR_MS, MINUTE_MS, type HistoryBucket } from '../domain/history.ts';
import { HISTORY_SPANS, pageQueryText, type HistorySpan, type PageFacts, type PageQuery } from './facts.ts';
import { command, part } from './markup.ts';
import { escapeControls } from '../domain/escape.ts';

interface SpanShown {
  readonly title: string;
  /** The time of one bar, and the number of bars. */
  readonly barMs: number;
  readonly bars: number;
  readonly barText: string;
  readonly beginText: string;
}

const SPANS: Readonly<Record<HistorySpan, SpanShown>> = {
  '1h': { title: 'Last hour', barMs: MINUTE_MS, bars: 60, barText: '1 min', beginText: '1 h ago' },
  '24h': {
    title: 'Last 24 hours',
    barMs: 15 * MINUTE_MS,
    bars: 96,
    barText: '15 min',
    beginText: '24 h ago',
  },
  '30d': { title: 'Last 30 days', barMs: 6 * HOUR_MS, bars: 120, barText: '6 h', beginText: '30 days ago' },
};

/** Returns the length of a span, milliseconds. */
export function spanMsOf(span: HistorySpan): number {
  const { barMs, bars } = SPANS[span];
  return barMs * bars;
}

interface Bar {
  sentFiles: number;
  sentBytes: number;
  failed: number;
  /** The maximum of its parts, a minute. */
  requests: number;
  /** The lowest known limit of its parts. */
  limit: number | null;
}

export function renderHistory({ history, requests, nowMs, commandEnd }: PageFacts, query: PageQuery): Html {
  const span = SPANS[query.span];
  const bars = barsOf(history, nowMs, span);
  const failed = total(bars, 'failed');
  const perMinute = (value: number): string => `${value.toLocaleString('en')} a minute`;
  const limit = requests.limit === null ? '' : `; the limit is ${perMinute(Math.round(requests.limit))}`;
  const plots: readonly Plot[] = [
    {
      title: 'Files sent',
      values: bars.map(({ sentFiles }) => sentFiles),
      format: (value) => `${countText(value, 'file')} in ${span.barText}`,
      summary: countText(total(bars, 'sentFiles'), 'file'),
    },
    {
      title: 'Bytes sent',
      values: bars.map(({ sentBytes }) => sentBytes),
      format: (value) => `${bytesText(value)} in ${span.barText}`,
      summary: bytesText(total(bars, 'sentBytes')),
    },
    {
      title: 'Requests',
      values: bars.map((bar) => Math.round(bar.requests)),
      limits: bars.map((bar) => bar.limit),
      format: perMinute,
      summary: `${perMinute(requests.lastMinute)} now${limit}`,
    },
    ...(failed === 0
      ? []
      : [
          {
            title: 'Failures',
            values: bars.map((bar) => bar.failed),
            isBad: true,
            format: (value: number) => `${value.toLocaleString('en')} in ${span.barText}`,
            summary: failed.toLocaleString('en'),
          },
        ]),
  ];
  const content = html`${renderSwitch(query)}
    <details class="card pad charts" open data-fold-narrow>
      <summary class="soft">Charts</summary>
      ${plots.map((plot) => renderPlot(plot, span.beginText))}
      <p class="soft">As a table: ${command('history', commandEnd)}</p>
    </details>`;
  return part('history', span.title, '', content);
}

function renderSwitch(query: PageQuery): Html {
  return html`<nav class="spans" aria-label="Span of the charts">
    ${HISTORY_SPANS.map(
      (span) =>
        html`<a
          href="/${pageQueryText({ ...query, span })}#history"
          ${span === query.span ? html`aria-current="true"` : html``}
          >${span}</a
        > `,
    )}
  </nav>`;
}

function barsOf(history: readonly HistoryBucket[], nowMs: number, { barMs, bars }: SpanShown): Bar[] {
  const beginMs = (Math.floor(nowMs / barMs) + 1 - bars) * barMs;
  const all = Array.from({ length: bars }, (): Bar => ({
    sentFiles: 0,
    sentBytes: 0,
    failed: 0,
    requests: 0,
    limit: null,
  }));
  for (const { startMs, spanMs, sentFiles, sentBytes, failed, requests, requestLimit } of history) {
    const bar = all[Math.floor((startMs - beginMs) / barMs)];
    if (bar === undefined) continue;
    bar.sentFiles += sentFiles;
    bar.sentBytes += sentBytes;
    bar.failed += failed;
    bar.requests = Math.max(bar.requests, requests / (spanMs / MINUTE_MS));
    bar.limit = requestLimit === null ? bar.limit : Math.min(bar.limit ?? Infinity, requestLimit);
  }
  return all;
}

function total(bars: readonly Bar[], count: 'sentFiles' | 'sentBytes' | 'failed'): number {
  return bars.reduce((sum, one) => sum + one[count], 0);
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

const HEIGHT = 28;

/** Width of a bar, and distance from one bar to the next. */
const BAR = 2.2;
const STEP = 3;

/** Draws bars, hidden from screen readers: for them the summary says enough. */
function renderPlot(
  { title, values, isBad = false, limits = [], format, summary }: Plot,
  beginText: string,
): Html {
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
      <span>${beginText}</span><span>${most === 0 ? '' : `peak: ${escapeControls(format(most))}`}</span
      ><span>now</span>
    </p>
  </figure> `;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
