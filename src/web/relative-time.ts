import { html, type Html } from './html.ts';

/** How a moment is told: "12 s ago"; "in 12 s", or "now" when it is past; "12 s", since then. */
export type RelativeForm = 'ago' | 'in' | 'for';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A moment as seen from now (both epoch ms), with the exact time as its title; the script of live-script.ts goes on with it. */
export function relativeTime(form: RelativeForm, at: number, now: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${exactTime(at)}" data-relative="${form}"
    >${relativeText(form, at, now)}</time
  >`;
}

/** A moment (epoch ms) to the second: "2026-03-01 12:00:10 UTC". */
export function exactTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Markup without the words of its relative times: what is equal but for them does not have to be sent again. */
export function withoutRelativeText(markup: string): string {
  return markup.replace(/(<time [^>]*data-relative=[^>]*>)[^<]*/g, '$1');
}

/** The words of `relativeTime`. */
export function relativeText(form: RelativeForm, at: number, now: number): string {
  switch (form) {
    case 'in':
      return at > now ? `in ${span(at - now)}` : 'now';
    case 'ago':
      return `${span(Math.max(0, now - at))} ago`;
    case 'for':
      return span(Math.max(0, now - at));
  }
}

function span(spanMs: number): string {
  // Rounded first: "60 s" is a minute.
  if (Math.round(spanMs / SECOND_MS) < 60) return `${Math.round(spanMs / SECOND_MS)} s`;
  if (Math.round(spanMs / MINUTE_MS) < 60) return `${Math.round(spanMs / MINUTE_MS)} min`;
  if (Math.round(spanMs / HOUR_MS) < 24) return `${Math.round(spanMs / HOUR_MS)} h`;
  const days = Math.round(spanMs / DAY_MS);
  return `${days.toLocaleString('en')} ${days === 1 ? 'day' : 'days'}`;
}
