import type { Doings, Failure } from '../domain/status.ts';
import { IS_PUT_AWAY, REMOVAL_FAILED, REMOVAL_IS_DUE } from './file-reader.ts';
import { PAGE_ROWS, PageCursor } from './page-cursor.ts';
import { reasonOf, type Problem } from './problems.ts';
import { type Query, isMoment, isText, mustMakeSense } from './database.ts';

/** Counts the files of a source at a target. */
export interface SourceTally {
  readonly source: string;
  readonly target: number;
  /** In sync, as far as known. */
  readonly files: number;
  readonly bytes: number;
  /** Of `files`: confirmed as stored, but not searchable. */
  readonly stored: number;
  /** Of `files`: confirmed as searchable. */
  readonly searchable: number;
  /** Sent, without a final status yet. */
  readonly unconfirmed: number;
  readonly unconfirmedBytes: number;
  /** Stored, but the platform could not index them. */
  readonly unsearchable: number;
  /** The last attempt to send or remove them failed, or a comparison found a difference. */
  readonly failed: number;
  /** Being sent for the first time since they changed, or interrupted by the end of botsync. */
  readonly sending: number;
  readonly refused: number;
  /** No longer synced, but still on the platform. */
  readonly left: number;
  /** Of `left`: to be removed. */
  readonly removalsDue: number;
  /** Of `removalsDue`: asked for, whatever the mode. */
  readonly askedRemovalsDue: number;
  /** Epoch milliseconds. */
  readonly nextExpiryMs: number | null;
}

/** Counts problems of files without a record. */
export interface ProblemCounts {
  readonly refuse: number;
  readonly problem: number;
  readonly pending: number;
}

/** Reads what `botsync status` shows. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class OverviewReader {
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  tallies(nowMs: number): SourceTally[] {
    // Nearly all rows are plain, and counting these separately is several times as fast.
    const plain = this.#query(`${plainTallies('file')} GROUP BY source, target`, nowMs);
    const hidden = this.#query(
      `${plainTallies('file JOIN problem USING (source, path)')} GROUP BY file.source, target`,
      nowMs,
    );
    const others = this.#query(
      `SELECT source, target,
         count(*) FILTER (WHERE there AND NOT waits),
         coalesce(sum(size_bytes) FILTER (WHERE there AND NOT waits), 0),
         count(*) FILTER (WHERE there AND verdict = 'stored'),
         count(*) FILTER (WHERE there AND verdict = 'searchable'),
         count(*) FILTER (WHERE there AND waits),
         coalesce(sum(size_bytes) FILTER (WHERE there AND waits), 0),
         min(expires_at) FILTER (WHERE state <> 'removing' AND expires_at > ?1),
         count(*) FILTER (WHERE state = 'synced' AND absence IS NULL AND verdict = 'unsearchable' AND differs IS NULL
           AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE ((${IS_FAILED}) OR (${REMOVAL_FAILED}) OR (${IS_OTHERWISE})) AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE (${IS_SENDING}) AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE state = 'refused' AND absence IS NULL AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE absence IS NOT NULL AND (uploaded = 1 OR state = 'sending')
           AND NOT (${IS_PUT_AWAY}) AND NOT (${REMOVAL_FAILED})),
         count(*) FILTER (WHERE ${REMOVAL_IS_DUE} AND NOT (${REMOVAL_FAILED})),
         count(*) FILTER (WHERE ${REMOVAL_IS_DUE} AND NOT (${REMOVAL_FAILED}) AND absence <> 'removed')
       FROM (SELECT *, ${IS_THERE} AS there, ${WAITS} AS waits FROM file AS record WHERE NOT (${IS_PLAIN})) AS record
       GROUP BY source, target`,
      nowMs,
    );
    return mergeTallies(plain, hidden, others);
  }

  /**
   * The files of sources, each at its target, that are not in sync, one failure a file, in path order, at most `limit`. Halts of
   * sources are not included.
   *
   * @param nowMs - the platform's time, epoch milliseconds.
   */
  failures(sources: ReadonlyMap<string, number>, limit: number, nowMs: number): Failure[] {
    const current = JSON.stringify([...sources]);
    const rows = this.#query(
      `WITH current AS (SELECT value ->> 0 AS source, value ->> 1 AS target FROM json_each(?1)),
         record AS MATERIALIZED (SELECT * FROM file JOIN current USING (source, target)
           WHERE state <> 'synced' OR failure IS NOT NULL OR differs IS NOT NULL)
       SELECT source, path, key, iif(state = 'sending' AND failure IS NOT NULL, 'failed', state),
           coalesce(failure, 'being sent, or was when botsync ended'),
           CASE WHEN state = 'sending' THEN 'sending' WHEN state = 'refused' THEN 'change'
             WHEN ask_at IS NOT NULL THEN 'resend' WHEN renew_at <= ?3 AND expires_at > ?3 THEN 'renewal' ELSE 'pass' END,
           iif(state = 'failed', ask_at, NULL), 'text' FROM record
         WHERE state IN ('failed', 'sending', 'refused') AND absence IS NULL AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, iif(verdict IS NULL, 'problem', 'unsearchable'), failure,
           iif(verdict IS NULL, 'ask', 'change'), iif(verdict IS NULL, ask_at, NULL), 'text' FROM record
         WHERE state = 'synced' AND failure IS NOT NULL AND absence IS NULL AND differs IS NULL AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, 'failed', failure, 'pass', NULL, 'removal' FROM record
         WHERE ${REMOVAL_FAILED} AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, 'failed', CASE differs WHEN 'replaced'
           THEN 'somebody else put another file in its place on the platform'
           WHEN 'facts' THEN 'the platform has it with other tags, metadata, policies or expiry than it was sent'
           ELSE 'the platform does not have it as it was sent' END,
           iif(differs = 'replaced', 'change', 'pass'), NULL, 'text' FROM record
         WHERE ${IS_OTHERWISE} AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, kind, reason, iif(kind = 'refuse', 'change', 'pass'), NULL, 'problem'
         FROM problem JOIN current USING (source) WHERE path <> '.'
       ORDER BY 1, 2 LIMIT ?2`,
      ...[current, limit, nowMs],
    );
    const isSound = ([source, path, key, kind, reason, , atMs]: readonly unknown[]): boolean =>
      [source, path, kind, reason].every(isText) && (key === null || isText(key)) && isMomentOrNull(atMs);
    mustMakeSense(rows.every(isSound));
    return rows.map(
      ([source, path, key, kind, text, retry, retryAtMs, form]) =>
        ({ source, path, key, kind, reason: reasonOf(text, form), retry, retryAtMs }) as Failure,
    );
  }

  /** Counts the problems of files without a record, by source. */
  problems(): Map<string, ProblemCounts> {
    const rows = this.#query(
      `SELECT source, count(*) FILTER (WHERE kind = 'refuse'), count(*) FILTER (WHERE kind = 'problem'),
         count(*) FILTER (WHERE kind = 'pending') FROM problem WHERE path <> '.' GROUP BY source`,
    );
    return new Map(
      rows.map(([source, refuse, problem, pending]) => [
        source as string,
        { refuse: refuse as number, problem: problem as number, pending: pending as number },
      ]),
    );
  }

  /** The problems of a source's files in path order, after a path. */
  problemsOf(source: string, afterPath: string): PageCursor<Problem, Pick<Problem, 'path'>> {
    return new PageCursor((after) =>
      this.#query(
        `SELECT path, key, kind, reason FROM problem WHERE source = ? AND path > ? AND path <> '.'
         ORDER BY path LIMIT ${PAGE_ROWS}`,
        ...[source, after?.path ?? afterPath],
      ).map(([path, key, kind, reason]) => {
        mustMakeSense(isText(path) && (key === null || isText(key)) && isText(kind));
        return { source, path, key, kind, reason: reasonOf(reason, 'problem') } as Problem;
      }),
    );
  }

  /** Reads every row. */
  since(sinceMs: number): Doings {
    const [row] = this.#query(
      `SELECT count(*) FILTER (WHERE is_sent), coalesce(sum(size_bytes) FILTER (WHERE is_sent), 0),
         count(*) FILTER (WHERE is_told AND NOT is_sent), count(*) FILTER (WHERE is_failed),
         max(changed_at) FILTER (WHERE is_told OR is_failed)
       FROM (SELECT size_bytes, changed_at,
           state = 'synced' AND absence IS NULL AND changed_at > ?1 AS is_told,
           state = 'synced' AND absence IS NULL AND sent_at > ?1 AS is_sent,
           state IN ('failed', 'refused') AND absence IS NULL AS is_failed
         FROM file WHERE changed_at > ?1)`,
      sinceMs,
    );
    const [removals] = this.#query('SELECT count(*), max(at) FROM removal WHERE at > ?', sinceMs);
    const [sent, sentBytes, updated, failed, changedAtMs = null] = row ?? [];
    const [removed, removedAtMs = null] = removals ?? [];
    mustMakeSense(isMomentOrNull(changedAtMs) && isMomentOrNull(removedAtMs));
    const moments = [changedAtMs, removedAtMs].filter((moment) => moment !== null) as number[];
    return {
      sent: Number(sent),
      sentBytes: Number(sentBytes),
      updated: Number(updated),
      removed: Number(removed),
      failed: Number(failed),
      lastMs: moments.length === 0 ? null : Math.max(...moments),
    };
  }

  /** The last full pass; `summary` is JSON. */
  lastPass(): { finishedAtMs: number; exitCode: number; summary: string } | null {
    const [row] = this.#query('SELECT finished_at, exit_code, summary, json_valid(summary) FROM pass');
    if (row === undefined) return null;
    const [finishedAtMs, exitCode, summary, isJson] = row;
    mustMakeSense(isMoment(finishedAtMs) && typeof exitCode === 'number');
    mustMakeSense(isText(summary) && isJson === 1);
    return { finishedAtMs, exitCode, summary };
  }
}

type SqlRow = readonly unknown[];

function isMomentOrNull(value: unknown): boolean {
  return value === null || isMoment(value);
}

/** Matches records of files with a problem of its own row. */
const HAS_PROBLEM =
  'EXISTS (SELECT 1 FROM problem WHERE problem.source = record.source AND problem.path = record.path)';

/** Matches files for which a comparison found a difference. */
const IS_OTHERWISE = "state = 'synced' AND absence IS NULL AND differs IS NOT NULL";

/** Matches files that failed, also while they are being retried. */
const IS_FAILED = "(state = 'failed' OR (state = 'sending' AND failure IS NOT NULL)) AND absence IS NULL";

/** Matches files being sent, or interrupted, that did not fail before. */
const IS_SENDING = "state = 'sending' AND failure IS NULL AND absence IS NULL";

/** Matches files without a final status that the platform is asked about. */
const WAITS = 'verdict IS NULL AND ask_at IS NOT NULL';

/** Matches files that are in sync as far as known, and have not expired. Takes the time as ?1. */
const IS_THERE = `state = 'synced' AND absence IS NULL AND differs IS NULL AND verdict IS NOT 'unsearchable'
  AND (expires_at IS NULL OR expires_at > ?1)
  AND NOT ${HAS_PROBLEM}`;

/** Matches the files of `IS_THERE` without looking at problems, as long as nothing failed. Takes the time as ?1. */
const IS_PLAIN = `state = 'synced' AND absence IS NULL AND differs IS NULL AND verdict IS NOT 'unsearchable'
  AND failure IS NULL AND (expires_at IS NULL OR expires_at > ?1)`;

/** Selects the columns with which `others` of `tallies` begins. */
function plainTallies(rows: string): string {
  return `SELECT file.source, target, count(*) FILTER (WHERE NOT (${WAITS})),
    coalesce(sum(size_bytes) FILTER (WHERE NOT (${WAITS})), 0),
    count(*) FILTER (WHERE verdict = 'stored'), count(*) FILTER (WHERE verdict = 'searchable'),
    count(*) FILTER (WHERE ${WAITS}), coalesce(sum(size_bytes) FILTER (WHERE ${WAITS}), 0), min(expires_at)
    FROM ${rows} WHERE ${IS_PLAIN}`;
}

/** The counts that plain rows have, in the order of their columns. The next expiry follows. */
const PLAIN_COUNTS = ['files', 'bytes', 'stored', 'searchable', 'unconfirmed', 'unconfirmedBytes'] as const;

/** The counts after the next expiry, which only other rows have. */
const OTHER_COUNTS = [
  'unsearchable',
  'failed',
  'sending',
  'refused',
  'left',
  'removalsDue',
  'askedRemovalsDue',
] as const;

/**
 * Adds up tallies, in the order of sources and targets.
 *
 * @param hidden - the plain rows with a problem: only their expiry counts.
 */
function mergeTallies(
  plain: readonly SqlRow[],
  hidden: readonly SqlRow[],
  others: readonly SqlRow[],
): SourceTally[] {
  const tallies = new Map<string, SourceTally>();
  const count = (rows: readonly SqlRow[], sign: 1 | -1): void => {
    mustMakeSense(rows.every((row) => isText(row[0]) && isMomentOrNull(row[PLAIN_COUNTS.length + 2])));
    for (const row of rows) {
      const [source, target] = row as [string, number];
      const id = JSON.stringify([source, target]);
      tallies.set(id, added(tallies.get(id) ?? { ...NO_TALLY, source, target }, row.slice(2), sign));
    }
  };
  count(plain, 1);
  count(hidden, -1);
  count(others, 1);
  return [...tallies.values()].sort((a, b) =>
    a.source === b.source ? a.target - b.target : a.source < b.source ? -1 : 1,
  );
}

function added(tally: SourceTally, row: SqlRow, sign: 1 | -1): SourceTally {
  const expiryMs = (row[PLAIN_COUNTS.length] ?? null) as number | null;
  const sum = { ...tally, nextExpiryMs: soonest(tally.nextExpiryMs, expiryMs) };
  for (const [at, name] of PLAIN_COUNTS.entries()) sum[name] += sign * Number(row[at] ?? 0);
  for (const [at, name] of OTHER_COUNTS.entries())
    sum[name] += sign * Number(row[PLAIN_COUNTS.length + 1 + at] ?? 0);
  return sum;
}

const NO_TALLY: Omit<SourceTally, 'source' | 'target'> = {
  ...{ files: 0, bytes: 0, stored: 0, searchable: 0, unconfirmed: 0, unconfirmedBytes: 0 },
  ...{ unsearchable: 0, failed: 0, sending: 0, refused: 0, left: 0, removalsDue: 0, askedRemovalsDue: 0 },
  nextExpiryMs: null,
};

function soonest(oneMs: number | null, otherMs: number | null): number | null {
  return oneMs === null || otherMs === null ? (oneMs ?? otherMs) : Math.min(oneMs, otherMs);
}
