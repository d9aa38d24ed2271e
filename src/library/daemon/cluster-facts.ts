import type { UnitRow } from '../../cluster/membership.ts';
import type { Config } from '../../config/config.ts';
import { disagree, whyUntaken } from '../../domain/unit-moves.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import type { ClusterFacts, HostFacts, UnitFacts } from '../../sync/plan/cluster-facts.ts';
import type { ClusterSituation } from '../cluster/cluster-situation.ts';
import type { HostReport } from '../cluster/host-reports.ts';
import type { ClusterPort } from './cluster-port.ts';

/** What is known of a cluster. */
type SeenCluster = Pick<ClusterPort, 'situation' | 'share' | 'reports'>;

/** A cluster as a host's part in it sees it. */
export function clusterFacts({ situation, share, reports }: SeenCluster): ClusterFacts {
  const { host, trouble, view, alive, held, blocked, failed, own, sources } = situation;
  const configured = new Set(own.map(({ id }) => id));
  const { units = [], hosts = [] } = view ?? {};
  const names = new Set(alive.map(({ name }) => name));
  const me = hosts.find(({ name }) => name === host);
  return {
    ...{ host, trouble },
    held: held.filter((name) => !own.some((unit) => unit.name === name && isOfNotifications(unit))),
    notifier: notifierOf(situation),
    units: units.flatMap((row) => {
      if (isOfNotifications(row)) return [];
      const isConfigured = configured.has(row.id) || isPinnedElsewhere(row, sources);
      // What no configuration has any more stays in the ledger.
      const isUsed =
        isConfigured ||
        row.holder !== null ||
        row.pinned !== null ||
        alive.some((one) => one.units.includes(row.id));
      if (!isUsed) return [];
      const isHalted = blocked.has(row.name) || situation.isHaltedElsewhere(row);
      const why = row.pinned === null ? whyUntaken(row.id, alive) : null;
      return [{ ...unitFacts(row), isConfigured, isHalted, whyUntaken: why }];
    }),
    hosts: hosts.map((row): HostFacts => ({
      name: row.name,
      version: row.version,
      alive: names.has(row.name),
      isMe: row.name === host,
      share: row.name === host ? share : names.has(row.name) ? (reports.get(row.name)?.share ?? null) : null,
      sameConfig: me === undefined || !disagree(row, me),
      ...(names.has(row.name) ? refusalIn(reports.get(row.name)) : {}),
    })),
    blocked: Object.fromEntries(blocked),
    failed: Object.fromEntries(failed),
  };
}

/** Whether a unit is of sources that a configuration has pinned to its host. */
function isPinnedElsewhere({ pinned, sources: theirs }: UnitRow, sources: Config['sources']): boolean {
  const isOf = ({ name, keyPrefix }: UnitRow['sources'][number]): boolean =>
    sources.some((one) => one.host === pinned && one.name === name && one.keyPrefix === keyPrefix);
  return pinned !== null && theirs.some(isOf);
}

/** What the platform said when it refused the credentials of a host, which said so itself. */
function refusalIn(report: HostReport | undefined): Pick<HostFacts, 'refusal'> {
  // Somebody may have changed it in the database.
  const troubles: unknown = report?.snapshot?.troubles;
  const all: readonly unknown[] = Array.isArray(troubles) ? troubles : [];
  for (const one of all) {
    const { kind, reason } = (one ?? {}) as { readonly kind?: unknown; readonly reason?: unknown };
    if (kind === 'credentials' && typeof reason === 'string') return { refusal: reason };
  }
  return {};
}

function unitFacts(row: UnitRow): Omit<UnitFacts, 'isConfigured' | 'isHalted' | 'whyUntaken'> {
  const { name, epoch, pinned, holder, holderHost } = row;
  return {
    ...{ name, epoch, pinned },
    sources: row.sources.map((source) => source.name),
    holderHost: pinned ?? (holder === null ? null : holderHost),
  };
}

/** Who tells people for this host; `null`: nobody does. */
function notifierOf({ own, view }: ClusterSituation): string | null {
  const unit = own.find(isOfNotifications);
  const row = unit && view?.units.find(({ id }) => id === unit.id);
  return row === undefined || row.holder === null ? null : row.holderHost;
}
