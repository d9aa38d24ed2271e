import { escapeControls } from '../domain/escape.ts';
import { html, type Html } from '../web/html.ts';
import { relativeTime } from '../web/relative-time.ts';
import { actionValue, type PageAction } from '../service/page-action.ts';

/** A name from outside, as a part of its own: control characters are escaped, and its direction of writing stays in it. */
export function name(text: string): Html {
  return html`<bdi>${escapeControls(text)}</bdi>`;
}

/** A path in the type of code, which may break anywhere. */
export function path(text: string): Html {
  return html`<bdi class="path">${escapeControls(text)}</bdi>`;
}

/** A moment that lies back: "4 min ago". */
export function ago(atMs: number, nowMs: number): Html {
  return relativeTime('ago', atMs, nowMs);
}

/** A moment that comes: "in 4 min". */
export function soon(atMs: number, nowMs: number): Html {
  return relativeTime('in', atMs, nowMs);
}

/** A command to copy: what follows `botsync`. */
export function command(args: string, commandEnd: string): Html {
  return html`<code class="command">botsync ${escapeControls(`${args}${commandEnd}`)}</code>`;
}

/** A button that does something, for whoever signed in: the form that holds the token stands once in the page. */
export function actionButton(label: string, action: PageAction): Html {
  const value = actionValue(action);
  return html`<button type="submit" form="control" name="action" value="${value}">${label}</button>`;
}

/** A part of the page with a heading, which the server renews as a whole. */
export function part(id: string, title: string, note: string, content: Html): Html {
  const aside = note === '' ? html`` : html` <small>${note}</small>`;
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}${aside}</h2>
    ${content}
  </section> `;
}
