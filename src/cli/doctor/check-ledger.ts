import type { DatabaseFinding } from '../../cluster/shared-ledger.ts';
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

async function checkDatabase(database: Cluster['database'], isEncrypted: boolean): Promise<Diagnosis[]> {
  const beganMs = performance.now();
  const { name, outdated, findings } = await database.facts();
  const tookMs = Math.max(1, Math.round(performance.now() - beganMs));
  const way = isEncrypted ? 'over TLS, its certificate checked' : 'on this machine, without TLS';
  return [
    outdated === null
      ? fine(CHECK, `the database (${name}) answers in ${tookMs} ms, ${way}`)
      : broken(CHECK, `the database is ${name}`, outdated),
    ...findings.map(diagnosisOf),
  ];
}

function diagnosisOf({ kind, message, fix }: DatabaseFinding): Diagnosis {
  if (fix === null) return fine(CHECK, message);
  return kind === 'broken' ? broken(CHECK, message, fix) : doubtful(CHECK, message, fix);
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
