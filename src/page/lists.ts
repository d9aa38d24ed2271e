import type { HostFacts, ClusterFacts } from '../domain/cluster-status.ts';
import { html, type Html } from './html.ts';
import { placeOf } from '../words/place.ts';
import type { Usage } from '../domain/usage.ts';
import { quotaWords, type QuotaWords } from '../words/usage.ts';
import type { PageEvent, PageFacts, PageQuery } from './facts.ts';
import { andMore, ago, hiddenChoices, name, part, path, soon, table, type Column } from './markup.ts';
import { countText } from '../service/amounts.ts';
import { unitsOf, describeHindrance } from '../words/cluster.ts';

const RENEWALS: readonly Column[] = [
  { label: 'File', kind: 'name' },
  { label: 'Expires', kind: 'text' },
  { label: 'Renewed', kind: 'text' },
];

export function renderRenewals({ renewals, nowMs }: PageFacts): Html {
  const rows = renewals.map(({ source, path: file, renewAtMs, expiresAtMs }) => ({
    key: placeOf(source, file),
    cells: [path(placeOf(source, file)), soon(expiresAtMs, nowMs), soon(renewAtMs, nowMs)],
  }));
  const content = table('Next expiries', RENEWALS, rows, 'No file that botsync renews will expire.');
  return part('renewals', 'Next expiries', '', content);
}

/** So many successive events of one kind become one line. */
const GROUPED_FROM = 4;

export function renderEvents({ events, nowMs }: PageFacts, query: PageQuery): Html {
  const wanted = query.event.toLowerCase();
  const found = events.filter(({ text }) => text.toLowerCase().includes(wanted));
  const groups = wanted === '' ? grouped(found) : found.map((event) => [event]);
  const content =
    events.length === 0
      ? html`<div class="card"><p class="empty">Nothing happened yet.</p></div>`
      : html`<div class="card">
          <form
            class="filter"
            data-live-form
            method="get"
            action="/#events"
            role="search"
            aria-label="Events"
          >
            ${hiddenChoices(query, ['event'])}
            <label class="wide"
              >Contains <input type="search" name="event" value="${query.event}" autocomplete="off"
            /></label>
            <button type="submit">Filter</button>
          </form>
          ${found.length === 0 ? html`<p class="empty">No event matches this filter.</p>` : html``}
          <ol class="events" tabindex="0" aria-label="Events, the newest first">
            ${groups.map((group) => renderEventGroup(group, nowMs))}
          </ol>
        </div>`;
  const note = events.length < 2 ? '' : `the last ${events.length}`;
  return part('events', 'Events', wanted === '' ? note : `${found.length} of ${events.length}`, content);
}

/** Groups successive events of one kind: that of their first word. */
function grouped(events: readonly PageEvent[]): PageEvent[][] {
  const groups: PageEvent[][] = [];
  for (const event of events) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && event.style !== null && kindOf(group[0]) === kindOf(event))
      group.push(event);
    else groups.push([event]);
  }
  return groups.flatMap((group) => (group.length < GROUPED_FROM ? group.map((one) => [one]) : [group]));
}

function kindOf({ level, style, text }: PageEvent): string {
  return `${level} ${style ?? ''} ${firstWord(text)}`;
}

function firstWord(text: string): string {
  return text.split(' ', 1)[0] ?? '';
}

function renderEventGroup(group: readonly PageEvent[], nowMs: number): Html {
  const [newest] = group;
  const oldest = group.at(-1);
  if (newest === undefined || oldest === undefined) return html``;
  if (group.length === 1) return renderEvent(newest, nowMs);
  const mark = markOf(newest);
  return html`<li data-key="from-${oldest.id}" class="${mark}">
    ${ago(newest.atMs, nowMs)}
    <details>
      <summary>${group.length.toLocaleString('en')} ${name(firstWord(newest.text))}</summary>
      <ul class="plain">
        ${group.map(({ id, text }) => html`<li data-key="${id}"><span>${name(text)}</span></li>`)}
      </ul>
    </details>
  </li> `;
}

const LEVELS: Readonly<Record<PageEvent['level'], string>> = {
  debug: '',
  info: '',
  warn: 'warning',
  error: 'error',
};

function markOf({ level, style }: PageEvent): string {
  return style === 'failure' || style === 'halted' ? 'error' : LEVELS[level];
}

function renderEvent(event: PageEvent, nowMs: number): Html {
  const { id, atMs, style, text } = event;
  const mark = markOf(event);
  const word = mark === '' || style !== null ? html`` : html`<strong>${mark}:</strong> `;
  return html`<li data-key="${id}" class="${mark}">
    ${ago(atMs, nowMs)} <span>${word}${name(text)}</span>
  </li> `;
}

export function renderUsage({ usage, nowMs }: PageFacts): Html {
  if (usage === null) return html`<section id="usage" hidden></section>`;
  const content = html`<div class="card pad">
    <ul class="plain quotas">
      ${quotaWords(usage.usages).map((words) => renderQuota(words, usage.usages[words.quota]))}
    </ul>
    <p class="soft">In the platform's units, asked ${ago(usage.askedAtMs, nowMs)}.</p>
  </div>`;
  return part('usage', 'Quotas', '', content);
}

/** Renders a quota, with a bar where its limit is known. The largest file is no part of a sum. */
function renderQuota({ quota, name: label, text }: QuotaWords, usage: Usage | null): Html {
  const { used = 0, allowed = null } = usage ?? {};
  const bar =
    allowed === null || quota === 'largestFile'
      ? html``
      : html`<progress max="${Math.max(1, allowed)}" value="${used}" aria-label="${label}"></progress>`;
  return html`<li>${name(label)}: <span class="soft">${text}</span>${bar}</li>`;
}

/** Limits on hosts, and on units of one host. */
const HOSTS_SHOWN = 200;
const UNITS_SHOWN = 10;

/** Returns `null` without a cluster. */
export function renderHosts({ known: { cluster } }: PageFacts): Html | null {
  if (cluster === undefined) return null;
  const hosts = [...cluster.hosts].sort((a, b) => Number(b.isMe) - Number(a.isMe));
  const content = html`<div class="card pad">
    <ul class="hosts">
      ${hosts.slice(0, HOSTS_SHOWN).map((one) => renderHost(one, cluster))}
    </ul>
    ${andMore(hosts.length - HOSTS_SHOWN, 'more host')}
  </div>`;
  return part('hosts', 'Hosts', countText(hosts.length, 'host'), content);
}

function renderHost(host: HostFacts, cluster: ClusterFacts): Html {
  const units = unitsOf(cluster, host.name);
  const more = units.length - UNITS_SHOWN;
  const named = units
    .slice(0, UNITS_SHOWN)
    .map((unit, index) => html`${index === 0 ? '' : ', '}${name(unit)}`);
  const rest = more > 0 ? html` and ${countText(more, 'more', 'more')}` : html``;
  const isKnown = cluster.trouble === null || host.isMe;
  const none = host.isMe && cluster.trouble !== null ? html`takes no part` : html`on standby`;
  const what = units.length === 0 ? none : html`${isKnown && !host.alive ? 'had' : 'syncs'} ${named}${rest}`;
  const how = !isKnown
    ? html`<span class="soft">not heard of while the database is out of reach</span>`
    : host.alive
      ? what
      : html`<strong>silent</strong>${units.length === 0 ? html`` : html`, ${what}`}`;
  const own = host.isMe ? 'this host, ' : '';
  return html`<li>
    <strong>${name(host.name)}</strong> ${how}
    <span class="soft">(${own}botsync ${name(host.version)})</span>
    ${host.hindrances.map((one) => html`<br /><strong>${describeHindrance(one)}</strong>`)}
  </li>`;
}
