import { HALT_TRAITS } from '../domain/guard.ts';
import { bytesText, countText, durationText } from '../service/amounts.ts';
import type { SourceStatus } from '../domain/status.ts';
import { html, type Html } from './html.ts';
import { describeOthers, type CountWords } from '../words/files.ts';
import { describeWords } from '../words/status.ts';
import type { PageFacts, SourceFacts } from './facts.ts';
import { filesAddress } from './files-query.ts';
import { actionButton, name, part, path, pathList, soon } from './markup.ts';
import { approvalEffect } from '../words/asked.ts';
import { verdictOf } from './verdict.ts';

export function renderSources(facts: PageFacts, mayAct: boolean): Html {
  const { sources } = facts.known;
  const cards = sources.map((status) => renderSource(status, facts, mayAct));
  const content = html`<ul class="cards">
    ${cards}
  </ul>`;
  const note = html`${countText(sources.length, 'source')} · <a href="/files">all files</a>`;
  return part('sources', 'Sources', note, content);
}

function renderSource(status: SourceStatus, facts: PageFacts, mayAct: boolean): Html {
  const source = facts.sources.find((one) => one.name === status.name);
  const { files, bytes, halted } = status;
  const words = facts.isAsked ? describeWords(status) : [];
  const sending = facts.running.outage ? 'waiting for the platform' : 'being sent';
  const others = describeOthers(status, sending);
  // The list has only what this host syncs.
  const isListed = source !== undefined && status.syncedBy === undefined;
  const listed = ({ group, text }: CountWords): Html =>
    isListed && group !== null
      ? html`<a href="${filesAddress({ source: status.name, state: group })}">${text.toLowerCase()}</a>`
      : html`${text.toLowerCase()}`;
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
    ${halted === null ? html`` : renderHalt(halted, status, source, isFirst(status, facts))}
    <dl class="facts">
      <div>
        <dt>In sync</dt>
        <dd>
          <strong>${listed({ group: files === 0 ? null : 'in-sync', text: countText(files, 'file') })}</strong
          >, ${bytesText(bytes)}
          ${words.length === 0 ? html`` : html`<span class="soft">(${words.join(', ')})</span>`}
        </dd>
      </div>
      ${
        others.length === 0
          ? html``
          : html`<div>
              <dt>Other files</dt>
              <dd>${others.map((one, index) => html`${index === 0 ? '' : ', '}${listed(one)}`)}</dd>
            </div>`
      }
      ${source === undefined ? html`` : renderPlace(source, status.syncedBy, facts)}${expiry}
    </dl>
    ${mayAct && source !== undefined ? renderActions(status, facts) : html``}
  </li> `;
}

function renderAside({ syncedBy }: SourceStatus, source: SourceFacts | undefined): Html {
  if (source === undefined) return html`<small>no longer configured</small>`;
  return syncedBy === undefined ? html`` : html`<small>synced by ${name(syncedBy)}</small>`;
}

function renderActions(status: SourceStatus, facts: PageFacts): Html {
  const { name: source } = status;
  return html`${renderApproval(status, facts)}
    <p class="actions">${actionButton(`Rescan ${source}`, { kind: 'rescan', source })}</p>`;
}

function renderPlace(
  { botId, keyPrefix, notices }: SourceFacts,
  syncedBy: string | undefined,
  { bots }: PageFacts,
): Html {
  const botName = bots.find(({ id }) => id === botId)?.name ?? null;
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
      <dd>${botName === null ? html`` : html`${name(botName)} `}${path(botId)}${prefix}</dd>
    </div>
    ${syncedBy === undefined ? watching : html``}`;
}

/** Returns whether the verdict is about the halt of this source. */
function isFirst({ name: source }: SourceStatus, facts: PageFacts): boolean {
  const { trouble } = verdictOf(facts);
  return trouble?.kind === 'halted' && trouble.source === source;
}

/** `isSaid`: the verdict has the reason already. */
function renderHalt(
  halted: string,
  { toRemove }: SourceStatus,
  source: SourceFacts | undefined,
  isSaid: boolean,
): Html {
  const named = source?.wouldRemove ?? [];
  const list =
    named.length === 0
      ? html``
      : html`<details>
          <summary>${countText(toRemove, 'file')} would be removed from the platform</summary>
          ${pathList(named, toRemove)}
        </details>`;
  const why = isSaid ? html`<strong>Halted</strong>` : html`<strong>Halted:</strong> ${name(halted)}`;
  return html`<p class="alarm">${why}</p>
    ${list}`;
}

/** Renders an approval in two steps: its effect is opened first, with the button below. */
export function renderApproval({ name: source, halt }: SourceStatus, { removals }: PageFacts): Html {
  if (halt === null || !HALT_TRAITS[halt.kind].isApprovable) return html``;
  return html`<details class="approval">
    <summary>Approve ${source} …</summary>
    <p>${approvalEffect(halt, removals)}</p>
    ${pathList(halt.first, halt.files)}
    ${actionButton(`Approve ${source}`, { kind: 'approve', source, halt: halt.digest }, 'danger')}
  </details>`;
}
