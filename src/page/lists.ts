import type { HostFacts, ClusterFacts } from '../domain/cluster-status.ts';
import { html, type Html } from './html.ts';
import { placeOf } from '../words/place.ts';
import type { PageEvent, PageFacts } from './facts.ts';
import { andMore, ago, name, part, path, soon, table, type Column } from './markup.ts';
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
