import type { UnitRow } from '../../cluster/membership.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import type { Snapshot, Subject, Trouble } from '../../notify/trouble.ts';
import type { Figures } from '../../notify/words.ts';
import type { SourceStatus } from '../../sync/plan/overview.ts';
import type { HostReport } from './host-reports.ts';

/** A cluster as it is seen by the host that tells people for all. */
export interface AllSeen {
  readonly units: readonly UnitRow[];
  /** Hosts that the ledger has: one that ended in order is none of them. */
  readonly hosts: readonly SeenHost[];
  /** Numbers of the units that some host could have now. */
  readonly wanted: ReadonlySet<number>;
}

/** A host as it is seen by the one that tells people for all. */
export interface SeenHost {
  readonly name: string;
  /** Whether it was heard of within a lease. */
  readonly isAlive: boolean;
  /** Whether its people are told here; else another host tells them elsewhere. */
  readonly isToldHere: boolean;
  readonly report: HostReport | null;
}

/** How everything stands on all hosts, as if it were one. Sources that are pinned are named with their hosts. */
export function snapshotOfAll(seen: AllSeen): Snapshot {
  const sources: string[] = [];
  const troubles: Trouble[] = [];
  const unknown: Subject[] = [];
  for (const { unit, holder } of currentUnits(seen)) {
    const said = holder?.isAlive === true ? (holder.report?.snapshot ?? null) : null;
    const standstill = standstillOf(unit, holder, seen);
    for (const { name } of unit.sources) {
      const source = unit.pinned === null ? name : `${name}@${unit.pinned}`;
      sources.push(source);
      if (said?.sources.includes(name) === true) {
        troubles.push(...said.troubles.flatMap((one) => ofSource(one, name, source)));
        unknown.push(...said.unknown.flatMap((one) => ofSource(one, name, source)));
      } else {
        for (const kind of ['failing', 'halted', 'expiring'] as const) unknown.push({ kind, source });
      }
      if (standstill.kind === 'unsynced') troubles.push({ ...standstill, source });
      if (standstill.kind === 'unknown') unknown.push({ kind: 'unsynced', source });
    }
  }
  const common = ofAllSources(seen);
  return {
    sources,
    troubles: [...troubles, ...common.troubles],
    unknown: [...unknown, ...common.unknown],
  };
}

/** The numbers of a summary over all hosts. */
export function figuresOfAll(seen: AllSeen): Figures {
  const statuses = toldUnits(seen).flatMap(({ unit, holder }) => {
    // While a unit moves, and of a silent host, what was heard last is as good as anything.
    const others = unit.pinned === null ? seen.hosts : [];
    return unit.sources.flatMap(
      ({ name }) =>
        firstOf([...(holder === null ? [] : [holder]), ...others], (host) => statusIn(host, name)) ?? [],
    );
  });
  const sent = heard(seen).flatMap(({ report }) => report?.sent ?? []);
  const expiries = statuses.flatMap(({ nextExpiry }) =>
    nextExpiry === null ? [] : [Date.parse(nextExpiry)],
  );
  return {
    files: sumOf(statuses.map(({ files }) => files)),
    bytes: sumOf(statuses.map(({ bytes }) => bytes)),
    sentFiles: sumOf(sent.map(({ files }) => files)),
    sentBytes: sumOf(sent.map(({ bytes }) => bytes)),
    nextExpiryMs: expiries.length === 0 ? null : Math.min(...expiries),
  };
}

/** Names of the hosts that people are told of here. */
export function hostsToldOf(seen: AllSeen): string[] {
  return seen.hosts
    .filter(({ isToldHere }) => isToldHere)
    .map(({ name }) => name)
    .sort();
}

interface ToldUnit {
  readonly unit: UnitRow;
  readonly holder: SeenHost | null;
}

/** Units with sources, but for those of hosts whose people are told elsewhere. `holder`: `null` where nobody has it. */
function toldUnits({ units, hosts }: AllSeen): ToldUnit[] {
  return units.flatMap((unit) => {
    const name = unit.pinned ?? (unit.holder === null ? null : unit.holderHost);
    const holder = hosts.find((host) => host.name === name) ?? null;
    return isOfNotifications(unit) || holder?.isToldHere === false ? [] : [{ unit, holder }];
  });
}

/**
 * The same without sources that are in no configuration any more, as far as that can be told: their host does not have them, or
 * another unit has. What people were told of them is over without a word, as on a single host.
 */
function currentUnits(seen: AllSeen): ToldUnit[] {
  const all = toldUnits(seen);
  const isWanted = ({ unit }: ToldUnit): boolean => unit.holder !== null || seen.wanted.has(unit.id);
  const shared = all.filter(({ unit }) => unit.pinned === null);
  const wanted = new Set(shared.filter(isWanted).flatMap(({ unit }) => unit.sources.map(({ name }) => name)));
  return all.map((one) => {
    const { unit, holder } = one;
    const isCurrent = (name: string): boolean =>
      unit.pinned === null ? isWanted(one) || !wanted.has(name) : !hasDropped(holder, unit);
    return { holder, unit: { ...unit, sources: unit.sources.filter(({ name }) => isCurrent(name)) } };
  });
}

/** Whether a host says that its configuration does not have a unit. */
function hasDropped(host: SeenHost | null, { id }: UnitRow): boolean {
  return host?.isAlive === true && host.report?.units?.includes(id) === false;
}

type Standstill =
  | { readonly kind: 'unsynced'; readonly silent: string | null }
  /** A host ended in order, or no host has it in its configuration: nobody can tell whether it is missed. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'synced' };

function standstillOf({ id, pinned }: UnitRow, holder: SeenHost | null, { wanted }: AllSeen): Standstill {
  if (holder?.isAlive === true) return { kind: 'synced' };
  if (holder !== null) return { kind: 'unsynced', silent: holder.name };
  return pinned === null && wanted.has(id) ? { kind: 'unsynced', silent: null } : { kind: 'unknown' };
}

/** What a host said last of a source that it syncs. */
function statusIn({ report }: SeenHost, source: string): SourceStatus | undefined {
  return report?.sources.find(({ name, syncedBy }) => name === source && syncedBy === undefined);
}

function firstOf<T, R>(all: readonly T[], of: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is of one source, by the name that it has among all. */
function ofSource<T extends Trouble | Subject>(one: T, name: string, among: string): T[] {
  return 'source' in one && one.source === name ? [{ ...one, source: among }] : [];
}

/** What concerns all sources of a host. */
function ofAllSources(seen: AllSeen): Pick<Snapshot, 'troubles' | 'unknown'> {
  const said = heard(seen).flatMap(({ name, report }) =>
    report === null || report.snapshot === null ? [] : [{ name, ...report.snapshot }],
  );
  const refused = said.flatMap(({ name, troubles }) =>
    troubles.flatMap((one) =>
      one.kind === 'credentials' ? [{ ...one, reason: `${name}: ${one.reason}` }] : [],
    ),
  );
  const from = said
    .filter(({ troubles }) => troubles.some(({ kind }) => kind === 'out-of-reach'))
    .map(({ name }) => name);
  const isUnknown = (kind: 'credentials' | 'out-of-reach'): boolean =>
    said.every(({ unknown }) => unknown.some((one) => one.kind === kind));
  const unknown = (['credentials', 'out-of-reach'] as const).filter(
    (kind) => (kind === 'credentials' ? refused.length : from.length) === 0 && isUnknown(kind),
  );
  return {
    troubles: [
      ...refused.slice(0, 1),
      ...(from.length === 0 ? [] : [{ kind: 'out-of-reach' as const, from }]),
    ],
    unknown: unknown.map((kind) => ({ kind, source: null })),
  };
}

function heard({ hosts }: AllSeen): SeenHost[] {
  return hosts.filter(({ isAlive, isToldHere }) => isAlive && isToldHere);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
