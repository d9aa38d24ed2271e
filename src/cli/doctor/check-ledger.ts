import type { DatabaseHealth } from '../../cluster/database.ts';
import type { ClusterConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { asked, demandLedger, openCluster, type Cluster } from '../../run/cluster/open-cluster.ts';
import { SyncError } from '../../run/sync-error.ts';
import { describeSpan } from '../../words/quantity.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

const CHECK = 'cluster';

/**
 * Checks whether the database is reachable, stores commits durably, and has a ledger that this host may use.
 *
 * @param now - the clock of this host, epoch milliseconds.
 */
export async function checkLedger(
  loaded: LoadedConfig,
  config: ClusterConfig,
  env: NodeJS.ProcessEnv,
  now: () => number = Date.now,
): Promise<Diagnosis[]> {
  let cluster: Cluster | null = null;
  try {
    cluster = openCluster(loaded, config, env);
    const { database, isEncrypted } = cluster;
    return [
      ...(await asked(() => checkDatabase(database, isEncrypted), config)),
      ...(await asked(() => checkClock(database, config.host, now), config)),
      ...(await checkTables(cluster)),
    ];
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return [broken(CHECK, error.place === null ? error.reason : `${error.place} ${error.reason}`, error.fix)];
  } finally {
    await cluster?.close();
  }
}

/** Older versions of PostgreSQL are not tested. */
const OLDEST_VERSION = 130_000;

async function checkDatabase(database: Cluster['database'], isEncrypted: boolean): Promise<Diagnosis[]> {
  const beganMs = performance.now();
  const health = await database.health();
  const tookMs = Math.max(1, Math.round(performance.now() - beganMs));
  const way = isEncrypted ? 'over TLS, its certificate checked' : 'on this machine, without TLS';
  const { version, versionNumber, isStandby } = health;
  const reached = `the database (PostgreSQL ${version}) answers in ${tookMs} ms, ${way}`;
  return [
    versionNumber >= OLDEST_VERSION
      ? fine(CHECK, reached)
      : broken(CHECK, `the database is PostgreSQL ${version}`, 'use version 13 or newer'),
    ...(isStandby
      ? [broken(CHECK, 'the database is a standby, which takes no writes', 'name the primary in the address')]
      : []),
    ...checkDurability(health),
  ];
}

/** Synchronised clocks differ by less, in milliseconds. */
const CLOCKS_DIFFER_MS = 10_000;

/** Compares the clock of this host with the database's, which all hosts share. */
async function checkClock(
  database: Cluster['database'],
  host: string,
  now: () => number,
): Promise<Diagnosis[]> {
  const sentAtMs = now();
  const databaseMs = await database.nowMs();
  const answeredAtMs = now();
  // The database read its clock between the two moments.
  const offMs = Math.max(sentAtMs - databaseMs, databaseMs - answeredAtMs);
  if (offMs <= CLOCKS_DIFFER_MS) return [];
  const way = sentAtMs > databaseMs ? 'ahead of' : 'behind';
  return [
    doubtful(
      CHECK,
      `the clock of this host (${host}) is ${describeSpan(offMs)} ${way} the database's`,
      'have a time service set both: timedatectl set-ntp true. When a unit moves, removals.delay and cluster.suspectAfter go on by the clock of the next host',
    ),
  ];
}

function checkDurability(health: DatabaseHealth): Diagnosis[] {
  const { isFsyncOff, commit, areStandbysNamed, standbys } = health;
  if (isFsyncOff || commit === 'off')
    return [
      doubtful(
        CHECK,
        `the database says that it has taken records before they are on its disk (${isFsyncOff ? 'fsync' : 'synchronous_commit'} is off)`,
        'switch it on: after a crash of the database files may be missing on the platform that count as synced',
      ),
    ];
  // The role of the hosts may have synchronous_commit set to wait for the primary only.
  if (areStandbysNamed && commit !== 'local')
    return [
      standbys > 0
        ? fine(CHECK, 'standbys are synchronous: a failover loses no records')
        : doubtful(
            CHECK,
            'the database waits for a synchronous standby, and has none: it takes no records',
            'start the standby, or correct synchronous_standby_names',
          ),
    ];
  if (standbys === 0)
    return [
      fine(CHECK, 'the database has no standby; with one, make it synchronous (synchronous_standby_names)'),
    ];
  return [
    doubtful(
      CHECK,
      'the standbys of the database are not synchronous: a failover may lose the latest records',
      `set ${areStandbysNamed ? 'synchronous_commit to on' : 'synchronous_standby_names'}. Without it, if the host that wrote them fails at the same time, a file that was being replaced may count as synced`,
    ),
  ];
}

async function checkTables(cluster: Cluster): Promise<Diagnosis[]> {
  const { config, tables } = cluster;
  await demandLedger(cluster);
  const lacking = await asked(() => tables.lackingRights(), config);
  if (lacking.length > 0)
    return [
      broken(
        CHECK,
        `the role lacks rights on the schema "${config.schema}": ${lacking.join(', ')}`,
        'run as the owner of the tables what botsync cluster init prints',
      ),
    ];
  return [fine(CHECK, `the ledger (schema "${config.schema}") is of this version, and this role may use it`)];
}
