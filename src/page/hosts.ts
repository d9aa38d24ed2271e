import { countText } from '../service/amounts.ts';
import type { ClusterFacts, HostFacts } from '../sync/plan/cluster-facts.ts';
import { html, type Html } from '../web/html.ts';
import { unitsOf } from '../words/cluster.ts';
import type { PageFacts } from './facts.ts';
import { name, part } from './markup.ts';

/** More hosts than anybody reads, and units of one. */
const HOSTS_SHOWN = 200;
const UNITS_SHOWN = 10;

/** The hosts of a cluster, and what each of them syncs; without a cluster there is no such part. */
export function renderHosts({ known: { cluster } }: PageFacts): Html | null {
  if (cluster === undefined) return null;
  const hosts = [...cluster.hosts].sort((a, b) => Number(b.isMe) - Number(a.isMe));
  const more = hosts.length - HOSTS_SHOWN;
  const content = html`<div class="card pad">
    <ul class="hosts">
      ${hosts.slice(0, HOSTS_SHOWN).map((one) => renderHost(one, cluster))}
    </ul>
    ${more > 0 ? html`<p class="soft">… and ${countText(more, 'more host')}</p>` : html``}
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
  const own = `${host.isMe ? 'this host, ' : ''}${cluster.notifier === host.name ? 'sends the notifications, ' : ''}`;
  const share = !isKnown || host.share === null ? '' : `${rateText(host.share)} requests/s, `;
  const differs = host.sameConfig ? '' : 'another configuration, ';
  return html`<li>
    <strong>${name(host.name)}</strong> ${how}
    <span class="soft">(${own}${share}${differs}botsync ${name(host.version)})</span>
  </li>`;
}

function rateText(perSecond: number): string {
  return perSecond < 10 ? String(perSecond) : String(Math.round(perSecond));
}
