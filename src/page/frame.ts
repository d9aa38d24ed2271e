import { createHash } from 'node:crypto';
import { html, Html } from './html.ts';
import { LIVE_SCRIPT_ELEMENT, LIVE_SCRIPT_SOURCE } from './live-script.ts';
import { PAGE_STYLE } from './style.ts';

/** The stylesheet, unformatted: the policy allows it by its hash. */
export const STYLE_ELEMENT = new Html(`<style>${PAGE_STYLE}</style>`);

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64');

/**
 * The content security policy of both pages: only this stylesheet and the script of live-script.ts, requests only to the
 * page's own server. `style` attributes and event handlers do not work.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  `script-src ${LIVE_SCRIPT_SOURCE}`,
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns a complete document. `live` is the address of the events that update its parts; `null`: it stays as it is. */
export function frame(title: Html, live: string | null, nowMs: number, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <link rel="icon" href="data:," />
        ${title} ${STYLE_ELEMENT}
      </head>
      <body ${live === null ? html`` : html`data-live="${live}"`} data-now="${nowMs}">
        ${body} ${LIVE_SCRIPT_ELEMENT}
      </body>
    </html> `.markup;
}
