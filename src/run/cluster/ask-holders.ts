import { setTimeout as delay } from 'node:timers/promises';
import type { UnitRow } from '../../cluster/shared-ledger.ts';
import { beatMs } from '../../domain/lease.ts';
import { SyncError } from '../sync-error.ts';
import { asked, demandLedger, type Cluster, withCluster } from './open-cluster.ts';
import type { LoadedConfig } from '../../config/load-config.ts';

/** `from`: the host that was asked to release the unit. */
interface Released {
  readonly unit: string;
  readonly from: string;
  /** The new holder; `null`: none, because no other host could take the unit. */
  readonly to: string | null;
}

/** Time that running work may take to end, milliseconds. */
const DRAIN_MS = 15_000;

/** Polling interval, milliseconds. */
const LOOK_MS = 200;

/**
 * Asks holders to release units, and waits until other hosts hold them or none can take them. Throws `SyncError`.
 *
 * @param name - of one unit; `null`: all units that this host holds.
 * @param patienceMs - after this the request is taken back.
 */
export async function releaseUnits(
  cluster: Cluster,
  name: string | null,
  patienceMs = DRAIN_MS + 2 * cluster.config.leaseMs,
): Promise<Released[]> {
  await demandLedger(cluster);
  const { membership, config } = cluster;
  const { units } = await asked(() => membership.look(), config);
  const wanted = name === null ? heldHere(units, config.host) : [named(units, name)];
  await asked(async () => {
    for (const { id, epoch } of wanted) await membership.addCommand(id, 'release', { epoch });
    await cluster.messages.wake(cluster.config.host);
  }, config);
  const untilMs = performance.now() + patienceMs;
  return await Promise.all(wanted.map((unit) => waitFor(cluster, unit, untilMs)));
}

async function waitFor(cluster: Cluster, before: UnitRow, untilMs: number): Promise<Released> {
  const { membership, config } = cluster;
  const from = before.holderHost ?? '';
  // Other hosts act on their beats, and may leave the unit to a better candidate for a few of them.
  const settleMs = 5 * beatMs(config.leaseMs);
  let freeSinceMs: number | null = null;
  for (;;) {
    const { units, hosts } = await asked(() => membership.look(), config);
    const unit = units.find(({ id }) => id === before.id);
    const nowMs = performance.now();
    if (unit !== undefined && unit.holder !== null && unit.epoch !== before.epoch)
      return { unit: before.name, from, to: unit.holderHost };
    if (unit === undefined || unit.holder === null) {
      freeSinceMs ??= nowMs;
      const others = hosts.some(
        (host) => host.name !== from && !host.isVisitor && host.units.includes(before.id),
      );
      if (!others || nowMs - freeSinceMs > settleMs) return { unit: before.name, from, to: null };
    }
    if (nowMs > untilMs) {
      await takeBack(cluster, before);
      throw new SyncError('cluster', {
        place: `the unit "${before.name}"`,
        reason: `is still held by ${from}, which has not let go of it in time; the request was taken back`,
        fix: `see whether botsync runs there: botsync cluster status`,
      });
    }
    await delay(LOOK_MS);
  }
}

async function takeBack({ membership, config }: Cluster, { id }: UnitRow): Promise<void> {
  await asked(async () => {
    const { commands } = await membership.look();
    for (const command of commands)
      if (command.unit === id && command.kind === 'release') await membership.takeCommand(command.id);
  }, config);
}

function heldHere(units: readonly UnitRow[], host: string): UnitRow[] {
  const held = units.filter((unit) => isHeld(unit) && unit.holderHost === host);
  if (held.length > 0) return held;
  throw new SyncError('not-served', {
    place: `this host (${host})`,
    reason: 'holds no unit',
    fix: 'name a unit, or see who holds what: botsync cluster status',
  });
}

function named(units: readonly UnitRow[], name: string): UnitRow {
  const unit = units.find((one) => one.name === name);
  if (unit === undefined)
    throw new SyncError('usage', {
      reason: `unit not found: "${name}"`,
      fix: `the ledger has: ${units.map((one) => one.name).join(', ') || 'none yet'}`,
    });
  if (!isHeld(unit))
    throw new SyncError('not-served', {
      place: `the unit "${name}"`,
      reason: 'is held by nobody',
      fix: 'start botsync on a host that has its sources',
    });
  return unit;
}

function isHeld({ holder }: UnitRow): boolean {
  return holder !== null;
}

/** `host`: `null` if no host holds the source, so that nobody was asked. */
interface AskedToRepair {
  readonly source: string;
  readonly host: string | null;
}

/** Asks the hosts that hold the sources of a configuration to compare and repair them. Throws `SyncError`. */
export async function askHoldersToRepair(
  loaded: LoadedConfig,
  env: NodeJS.ProcessEnv,
): Promise<AskedToRepair[]> {
  return await withCluster(loaded, env, (cluster) =>
    asked(async () => {
      const { membership } = cluster;
      const { units } = await membership.look();
      const all: AskedToRepair[] = [];
      for (const { name: source } of loaded.config.sources) {
        const unit = units.find(
          ({ holder, sources }) => holder !== null && sources.some(({ name }) => name === source),
        );
        if (unit !== undefined) await membership.addCommand(unit.id, 'repair', { source });
        all.push({ source, host: unit?.holderHost ?? null });
      }
      await cluster.messages.wake(cluster.config.host);
      return all;
    }, cluster.config),
  );
}
