import type { Sql } from '../../cluster/database.ts';
import type { ClusterConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { lackingRights } from '../../library/cluster/init-ledger.ts';
import { asked, demandLedger, openCluster, type Cluster } from '../../library/cluster/open-cluster.ts';
import { SyncError } from '../../library/sync-error.ts';
import { describeSpan } from '../../words/quantity.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

const CHECK = 'cluster';

/**
 * Whether the database can be reached, is one that keeps what it takes, and has a ledger that this host may use.
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
    const { sql } = cluster.database;
    return [
      ...(await asked(() => checkDatabase(sql, cluster?.isEncrypted === true), config)),
      ...(await asked(() => checkClock(sql, config.host, now), config)),
      ...(await checkTables(cluster)),
    ];
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return [broken(CHECK, error.place === null ? error.reason : `${error.place} ${error.reason}`, error.fix)];
  } finally {
    await cluster?.close();
  }
}

/** PostgreSQL of versions before this is not tried. */
const OLDEST_VERSION = 130_000;

async function checkDatabase(sql: Sql, isEncrypted: boolean): Promise<Diagnosis[]> {
  const beganMs = performance.now();
  const [row] = await sql(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
       current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit,
       current_setting('fsync') AS fsync, (SELECT count(*)::integer FROM pg_stat_replication) AS standbys,
       pg_is_in_recovery() AS is_standby`,
  );
  const tookMs = Math.max(1, Math.round(performance.now() - beganMs));
  const way = isEncrypted ? 'over TLS, its certificate checked' : 'on this machine, without TLS';
  const version = String(row?.['version']);
  const reached = `the database (PostgreSQL ${version}) answers in ${tookMs} ms, ${way}`;
  return [
    Number(row?.['number']) >= OLDEST_VERSION
      ? fine(CHECK, reached)
      : broken(CHECK, `the database is PostgreSQL ${version}`, 'use version 13 or newer'),
    ...(row?.['is_standby'] === true
      ? [broken(CHECK, 'the database is a standby, which takes no writes', 'name the primary in the address')]
      : []),
    ...checkDurability(row ?? {}),
  ];
}

/** More than this clocks that are kept in time do not differ, milliseconds. */
const CLOCKS_DIFFER_MS = 10_000;

/** Whether the clock of this host is that of the others: nobody asks these, but all know the database's. */
async function checkClock(sql: Sql, host: string, now: () => number): Promise<Diagnosis[]> {
  const sentAtMs = now();
  const [row] = await sql(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now_ms',
  );
  const answeredAtMs = now();
  const databaseMs = Number(row?.['now_ms']);
  // It was asked at some moment in between.
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

function checkDurability(row: Readonly<Record<string, unknown>>): Diagnosis[] {
  if (row['fsync'] === 'off' || row['commit'] === 'off')
    return [
      doubtful(
        CHECK,
        `the database says that it has taken records before they are on its disk (${row['fsync'] === 'off' ? 'fsync' : 'synchronous_commit'} is off)`,
        'switch it on: after a crash of the database files may be missing on the platform that count as synced',
      ),
    ];
  const [areNamed, standbys] = [row['names'] !== '', Number(row['standbys'])];
  // The role of the hosts may be one whose commits wait for the disk of the primary alone.
  if (areNamed && row['commit'] !== 'local')
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
      `set ${areNamed ? 'synchronous_commit to on' : 'synchronous_standby_names'}. Without it, if the host that wrote them fails at the same time, a file that was being replaced may count as synced`,
    ),
  ];
}

async function checkTables(cluster: Cluster): Promise<Diagnosis[]> {
  const { config, database } = cluster;
  await demandLedger(cluster);
  const lacking = await asked(() => lackingRights(database.sql, config.schema), config);
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
