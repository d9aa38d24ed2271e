import { html, Html } from '../web/html.ts';
import { escapeControls } from '../domain/escape.ts';

/** Bars over time, oldest first. */
export interface Plot {
  readonly title: string;
  /** One number a bar. */
  readonly values: readonly number[];
  /** Of these bars the ones that stand for something bad. */
  readonly isBad?: boolean;
  /** A line across, such as a limit, one number a bar; `null`: not known then. */
  readonly limits?: readonly (number | null)[];
  /** A value in words, with its unit. */
  readonly format: (value: number) => string;
  /** What there is to say of all values in a sentence. */
  readonly summary: string;
}

const HEIGHT = 48;

/** Width of a bar, and the gap after it. */
const BAR = 2.2;
const STEP = 3;

/** A plot as a picture with its sentence below, which is all that a screen reader needs. */
export function renderPlot({ title, values, isBad = false, limits = [], format, summary }: Plot): Html {
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
