import { html, type Html } from '../web/html.ts';
import { placeOf } from '../words/place.ts';
import type { PageEvent, PageFacts } from './facts.ts';
import { ago, name, part, path, soon } from './markup.ts';

/** The files that expire next, and when each is renewed before that. */
export function renderRenewals({ renewals, nowMs }: PageFacts): Html {
  const rows = renewals.map(
    ({ source, path: file, renewAtMs, expiresAtMs }) =>
      html`<tr>
        <th scope="row" class="key">${path(placeOf(source, file))}</th>
        <td class="when">${soon(expiresAtMs, nowMs)}</td>
        <td class="when">${soon(renewAtMs, nowMs)}</td>
      </tr> `,
  );
  const content =
    rows.length === 0
      ? html`<div class="card"><p class="empty">No file that botsync renews will expire.</p></div>`
      : html`<div class="card">
          <table>
            <thead>
              <tr>
                <th scope="col">File</th>
                <th scope="col">Expires</th>
                <th scope="col">Renewed</th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>
        </div>`;
  return part('renewals', 'Next expiries', '', content);
}

/** The latest lines of the log. */
export function renderEvents({ events, nowMs }: PageFacts): Html {
  const content =
    events.length === 0
      ? html`<div class="card"><p class="empty">Nothing happened yet.</p></div>`
      : html`<div class="card">
          <ol class="events" tabindex="0" aria-label="Events, the newest first">
            ${events.map((event) => renderEvent(event, nowMs))}
          </ol>
        </div>`;
  return part('events', 'Events', events.length < 2 ? '' : `the last ${events.length}`, content);
}

const LEVELS: Readonly<Record<PageEvent['level'], string>> = {
  debug: '',
  info: '',
  warn: 'warning',
  error: 'error',
};

function renderEvent({ id, atMs, level, style, text }: PageEvent, nowMs: number): Html {
  const mark = style === 'failure' || style === 'halted' ? 'error' : LEVELS[level];
  const word = mark === '' || style !== null ? html`` : html`<strong>${mark}:</strong> `;
  return html`<li data-key="${id}" class="${mark}">
    ${ago(atMs, nowMs)} <span>${word}${name(text)}</span>
  </li> `;
}

/** How much of the quotas is used; nothing where that is not known. */
export function renderUsage({ usage, nowMs }: PageFacts): Html {
  if (usage === null) return html`<section id="usage" hidden></section>`;
  const content = html`<div class="card pad">
    <ul class="plain">
      ${usage.lines.map((line) => html`<li>${name(line)}</li>`)}
    </ul>
    <p class="soft">In the platform's units, asked ${ago(usage.askedAtMs, nowMs)}.</p>
  </div>`;
  return part('usage', 'Quotas', '', content);
}
