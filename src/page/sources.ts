import { bytesText, countText, durationText } from '../service/amounts.ts';
import type { SourceStatus } from '../sync/plan/overview.ts';
import { html, type Html } from '../web/html.ts';
import { describeOthers, describeWords } from '../words/status.ts';
import type { PageFacts, SourceFacts } from './facts.ts';
import { actionButton, name, part, path, soon } from './markup.ts';

/** What each source is and how it stands. */
export function renderSources(facts: PageFacts, mayAct: boolean): Html {
  const { sources } = facts.known;
  const cards = sources.map((status) => renderSource(status, facts, mayAct));
  const content = html`<ul class="cards">
    ${cards}
  </ul>`;
  return part('sources', 'Sources', countText(sources.length, 'source'), content);
}

function renderSource(status: SourceStatus, facts: PageFacts, mayAct: boolean): Html {
  const source = facts.sources.find((one) => one.name === status.name);
  const { files, bytes, halted } = status;
  const words = facts.isAsked ? describeWords(status) : [];
  const sending = facts.running.outage ? 'waiting for the platform' : 'being sent';
  const others = describeOthers(status, sending);
  const expiry =
    status.nextExpiry === null
      ? html``
      : html`<div>
          <dt>Next expiry</dt>
          <dd>${soon(Date.parse(status.nextExpiry), facts.nowMs)}</dd>
        </div>`;
  return html`<li class="card ${halted === null ? '' : 'halted'}">
    <h3>${name(status.name)} ${renderAside(status, source)}</h3>
    ${source === undefined ? html`` : html`<p class="where">${path(source.directory)}</p>`}
    ${halted === null ? html`` : renderHalt(halted, status, source)}
    <dl class="facts">
      <div>
        <dt>In sync</dt>
        <dd>
          <strong>${countText(files, 'file')}</strong>, ${bytesText(bytes)}
          ${words.length === 0 ? html`` : html`<span class="soft">(${words.join(', ')})</span>`}
        </dd>
      </div>
      ${
        others.length === 0
          ? html``
          : html`<div>
              <dt>Other files</dt>
              <dd>${others.join(', ').toLowerCase()}</dd>
            </div>`
      }
      ${source === undefined ? html`` : renderPlace(source, status.syncedBy)}${expiry}
    </dl>
    ${mayAct && source !== undefined ? renderActions(status) : html``}
  </li> `;
}

function renderAside({ syncedBy }: SourceStatus, source: SourceFacts | undefined): Html {
  if (source === undefined) return html`<small>no longer configured</small>`;
  return syncedBy === undefined ? html`` : html`<small>synced by ${name(syncedBy)}</small>`;
}

function renderActions({ name: source, halted, haltAdvice }: SourceStatus): Html {
  const approve =
    halted === null || haltAdvice === null
      ? html``
      : actionButton(`Approve ${source}`, { kind: 'approve', source });
  return html`<p class="actions">
    ${approve} ${actionButton(`Rescan ${source}`, { kind: 'rescan', source })}
  </p>`;
}

function renderPlace({ botId, keyPrefix, notices }: SourceFacts, syncedBy: string | undefined): Html {
  const prefix = keyPrefix === '' ? html`` : html`, keys begin with ${path(keyPrefix)}`;
  const how =
    notices.kind === 'polling'
      ? `checked every ${durationText(notices.everyMs)}`
      : notices.directories === 0
        ? 'not watched'
        : countText(notices.directories, 'directory', 'directories');
  const watching = html`<div>
    <dt>Watching</dt>
    <dd>${how}</dd>
  </div>`;
  return html`<div>
      <dt>Bot</dt>
      <dd>${path(botId)}${prefix}</dd>
    </div>
    ${syncedBy === undefined ? watching : html``}`;
}

/** Why a source is halted, and what it would remove. */
function renderHalt(halted: string, { toRemove }: SourceStatus, source: SourceFacts | undefined): Html {
  const named = source?.wouldRemove ?? [];
  const more = toRemove - named.length;
  const list =
    named.length === 0
      ? html``
      : html`<details>
          <summary>${countText(toRemove, 'file')} would be removed from the platform</summary>
          <ul class="paths">
            ${named.map((file) => html`<li>${path(file)}</li>`)}
          </ul>
          ${more > 0 ? html`<p class="soft">… and ${more.toLocaleString('en')} more</p>` : html``}
        </details>`;
  return html`<p class="alarm"><strong>Halted:</strong> ${name(halted)}</p>
    ${list}`;
}
