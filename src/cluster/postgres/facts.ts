import type { DatabaseFacts, DatabaseFinding } from '../shared-ledger.ts';
import type { Sql } from './sql.ts';

/** Older versions of PostgreSQL are not tested. */
const OLDEST_VERSION = 130_000;

/** Asks the database for its version, and whether it keeps what it takes. Throws `DatabaseError`. */
export async function readFacts(sql: Sql): Promise<DatabaseFacts> {
  const health = await readHealth(sql);
  return {
    name: `PostgreSQL ${health.version}`,
    outdated: health.versionNumber >= OLDEST_VERSION ? null : 'use version 13 or newer',
    findings: [
      ...(health.isStandby
        ? [broken('the database is a standby, which takes no writes', 'name the primary in the address')]
        : []),
      ...durabilityOf(health),
    ],
  };
}

interface DatabaseHealth {
  readonly version: string;
  /** As PostgreSQL numbers its versions: 170010 is 17.10. */
  readonly versionNumber: number;
  /** A standby takes no writes. */
  readonly isStandby: boolean;
  readonly isFsyncOff: boolean;
  /** The setting `synchronous_commit`. */
  readonly commit: string;
  /** `synchronous_standby_names` is not empty. */
  readonly areStandbysNamed: boolean;
  /** Connected standbys. */
  readonly standbys: number;
}

async function readHealth(sql: Sql): Promise<DatabaseHealth> {
  const [row] = await sql(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
         current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit,
         current_setting('fsync') AS fsync, (SELECT count(*)::integer FROM pg_stat_replication) AS standbys,
         pg_is_in_recovery() AS is_standby`,
  );
  return {
    version: String(row?.['version']),
    versionNumber: Number(row?.['number']),
    isStandby: row?.['is_standby'] === true,
    isFsyncOff: row?.['fsync'] === 'off',
    commit: String(row?.['commit']),
    areStandbysNamed: row?.['names'] !== '',
    standbys: Number(row?.['standbys']),
  };
}

function durabilityOf(health: DatabaseHealth): DatabaseFinding[] {
  const { isFsyncOff, commit, areStandbysNamed, standbys } = health;
  if (isFsyncOff || commit === 'off')
    return [
      doubtful(
        `the database says that it has taken records before they are on its disk (${isFsyncOff ? 'fsync' : 'synchronous_commit'} is off)`,
        'switch it on: after a crash of the database files may be missing on the platform that count as synced',
      ),
    ];
  // The role of the hosts may have synchronous_commit set to wait for the primary only.
  if (areStandbysNamed && commit !== 'local')
    return [
      standbys > 0
        ? fine('standbys are synchronous: a failover loses no records')
        : doubtful(
            'the database waits for a synchronous standby, and has none: it takes no records',
            'start the standby, or correct synchronous_standby_names',
          ),
    ];
  if (standbys === 0)
    return [fine('the database has no standby; with one, make it synchronous (synchronous_standby_names)')];
  return [
    doubtful(
      'the standbys of the database are not synchronous: a failover may lose the latest records',
      `set ${areStandbysNamed ? 'synchronous_commit to on' : 'synchronous_standby_names'}. Without it, if the host that wrote them fails at the same time, a file that was being replaced may count as synced`,
    ),
  ];
}

function fine(message: string): DatabaseFinding {
  return { kind: 'fine', message, fix: null };
}

function doubtful(message: string, fix: string): DatabaseFinding {
  return { kind: 'doubtful', message, fix };
}

function broken(message: string, fix: string): DatabaseFinding {
  return { kind: 'broken', message, fix };
}
