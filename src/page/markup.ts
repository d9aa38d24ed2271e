import { escapeControls } from '../domain/escape.ts';
import { html, type Html } from './html.ts';
import { countText } from '../service/amounts.ts';
import { placeOf } from '../words/place.ts';
import type { PageQuery } from './facts.ts';
import { actionValue, type PageAction } from '../service/page-source.ts';

/** Escapes control characters, and isolates the writing direction. */
export function name(text: string): Html {
  return html`<bdi>${escapeControls(text)}</bdi>`;
}

export function path(text: string): Html {
  return html`<bdi class="path">${escapeControls(text)}</bdi>`;
}

/** Returns the address of what is known of a file. */
export function fileAddress(source: string, file: string): string {
  return `/?${new URLSearchParams({ file: placeOf(source, file) }).toString()}#explained`;
}

export function ago(atMs: number, nowMs: number): Html {
  return relativeTime('ago', atMs, nowMs);
}

export function soon(atMs: number, nowMs: number): Html {
  return relativeTime('in', atMs, nowMs);
}

/** Renders a command to copy; `args` is what follows `botsync`. */
export function command(args: string, commandEnd: string): Html {
  return html`<code class="command">botsync ${escapeControls(`${args}${commandEnd}`)}</code>`;
}

/** `first`: the first of `count` paths. */
export function pathList(first: readonly string[], count: number): Html {
  return html`<ul class="paths">
      ${first.map((file) => html`<li>${path(file)}</li>`)}
    </ul>
    ${andMore(count - first.length, 'more', 'more')}`;
}

/** Renders "… and 3 more files" below a list that is cut; nothing for a count of 0 or less. */
export function andMore(count: number, one: string, many?: string): Html {
  return count > 0 ? html`<p class="soft">… and ${countText(count, one, many)}</p>` : html``;
}

/** Renders a button of the form `control`, which is on the page once and contains the token. */
export function actionButton(label: string, action: PageAction, style: 'plain' | 'danger' = 'plain'): Html {
  const value = actionValue(action);
  return html`<button type="submit" form="control" name="action" value="${value}" class="${style}">
    ${label}
  </button>`;
}

/** Renders the choices that other forms of the page make: a form sends its own fields alone. */
export function hiddenChoices(query: PageQuery, own: readonly (keyof PageQuery)[]): Html {
  const others = (Object.keys(query) as (keyof PageQuery)[]).filter(
    (field) => !own.includes(field) && field !== 'file' && query[field] !== '',
  );
  return html`${others.map((field) => html`<input type="hidden" name="${field}" value="${query[field]}" />`)}`;
}

export function option(value: string, chosen: string, label = escapeControls(value)): Html {
  return html`<option value="${value}" ${value === chosen ? html`selected` : html``}>${label}</option>`;
}

/** Renders a section with a heading, which is updated as a whole. */
export function part(id: string, title: string, note: string | Html, content: Html): Html {
  const aside = note === '' ? html`` : html` <small>${note}</small>`;
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}${aside}</h2>
    ${content}
  </section> `;
}

/** "12 s ago"; "in 12 s", or "now" when it is past; "12 s" for the time since then. */
export type RelativeForm = 'ago' | 'in' | 'for';
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Renders a moment relative to now (both epoch ms), with the exact time as its title; live-script.ts keeps it
 * up to date.
 */
export function relativeTime(form: RelativeForm, at: number, now: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${exactTime(at)}" data-relative="${form}"
    >${relativeText(form, at, now)}</time
  >`;
}

/** Renders the exact time of a moment, and how long ago or in how long that is. */
export function moment(at: number, now: number): Html {
  const relative = relativeTime(at > now ? 'in' : 'ago', at, now);
  return html`${exactTime(at)} <span class="soft">(${relative})</span>`;
}

/** Renders a button that copies a text; only the script shows it. */
export function copyButton(what: string, text: string): Html {
  // Plain ASCII: line breaks would not survive.
  return html`<button type="button" class="copy" data-copy="${encodeURIComponent(text)}" hidden>
    Copy ${what}
  </button>`;
}

/** Returns for example "2026-03-01 12:00:10 UTC". */
function exactTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Removes the texts of relative times: markup that differs only in them need not be sent again. */
export function withoutRelativeText(markup: string): string {
  return markup.replace(/(<time [^>]*data-relative=[^>]*>)[^<]*/g, '$1');
}

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
  // Round first: "60 s" is a minute.
  if (Math.round(spanMs / SECOND_MS) < 60) return `${Math.round(spanMs / SECOND_MS)} s`;
  if (Math.round(spanMs / MINUTE_MS) < 60) return `${Math.round(spanMs / MINUTE_MS)} min`;
  if (Math.round(spanMs / HOUR_MS) < 24) return `${Math.round(spanMs / HOUR_MS)} h`;
  const days = Math.round(spanMs / DAY_MS);
  return `${days.toLocaleString('en')} ${days === 1 ? 'day' : 'days'}`;
}

export interface Column {
  readonly label: string;
  readonly kind: 'text' | 'type' | 'number' | 'name';
}

export interface Row {
  readonly key: string;
  readonly cells: readonly Html[];
}

/** Renders a table that becomes a list of cards in a narrow window, or `empty` without rows. */
export function table(label: string, columns: readonly Column[], rows: readonly Row[], empty: string): Html {
  if (rows.length === 0) return html`<div class="card"><p class="empty">${empty}</p></div>`;
  // The elements would lose their implicit roles where the style gives them another layout.
  const head = columns.map(
    ({ label: text, kind }) => html`<th role="columnheader" scope="col" class="${kind}">${text}</th>`,
  );
  const body = rows.map(
    ({ key, cells }) =>
      html`<tr role="row" data-key="${key}">
        ${cells.map((cell, index) => renderCell(columns[index], cell))}
      </tr> `,
  );
  return html`<div class="card">
    <table class="stack" role="table" aria-label="${label}">
      <thead role="rowgroup">
        <tr role="row">
          ${head}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${body}
      </tbody>
    </table>
  </div>`;
}

function renderCell(column: Column | undefined, cell: Html): Html {
  const { label = '', kind = 'text' } = column ?? {};
  const hidden = cell.markup === '' ? ' none' : '';
  // In a narrow window the label is next to the content, which must be one element for that.
  return html`<td role="cell" class="${kind}${hidden}" data-label="${label}"><div>${cell}</div></td>`;
}
