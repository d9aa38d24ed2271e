import { IS_PUT_AWAY, REMOVAL_FAILED, REMOVAL_IS_DUE } from './conditions.ts';
import type { Query } from './database.ts';
import { isMoment, isText, mustMakeSense } from './soundness.ts';

/** What a source holds at a target. */
export interface SourceTally {
  readonly source: string;
  readonly target: number;
  /** On the platform as they are here, by its own word or as far as it can be known, with their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Of those: the platform says that it has the content, and nothing of a search. */
  readonly stored: number;
  /** Of those: the platform says that the bot can search them. */
  readonly searchable: number;
  /** Sent, while the platform has not said yet their status. */
  readonly unconfirmed: number;
  readonly unconfirmedBytes: number;
  /** The platform has them, and could not index them. */
  readonly unsearchable: number;
  /** The last attempt to send or remove them failed, or the platform was found to have them otherwise. */
  readonly failed: number;
  /** Being sent for the first time since they changed, or when botsync ended. */
  readonly sending: number;
  readonly refused: number;
  /** No longer synced, and on the platform still. */
  readonly left: number;
  /** Of those: removed here, and not there yet. */
  readonly removalsDue: number;
  /** Epoch milliseconds. */
  readonly nextExpiryMs: number | null;
}

/** What was done since a moment, as far as it shows in the records of now. All times in epoch milliseconds. */
export interface Doings {
  /** Files whose content was sent, and their bytes. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Files of which only other settings or another expiry were told. */
  readonly updated: number;
  readonly removed: number;
  /** Files that failed or were refused, and still are. */
  readonly failed: number;
  /** When the last of that was; `null`: there was nothing. */
  readonly lastMs: number | null;
}

/** Files that were not sent and have no row of their own to say so, counted. */
export interface ProblemCounts {
  readonly refuse: number;
  readonly problem: number;
  readonly pending: number;
}

/**
 * What brings another attempt:
 * - `pass`: the next pass over everything that tries again what failed.
 * - `change`: a change of the file or of its rules.
 * - `renewal`: as `pass`, and now and then before that, since it is to be renewed.
 * - `resend`: the moment that is on record; the platform lost it.
 * - `ask`: the platform is asked again what became of it, at the moment that is on record.
 * - `sending`: it is being sent, or was when botsync ended, and goes first then.
 */
export type RetryCause = 'pass' | 'change' | 'renewal' | 'resend' | 'ask' | 'sending';

/** A file that is not in sync. */
export interface Failure {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly kind: 'failed' | 'sending' | 'refused' | 'unsearchable' | 'refuse' | 'problem' | 'pending';
  readonly reason: string;
  readonly retry: RetryCause;
  /** The moment that is on record, epoch milliseconds; `null`: there is none. */
  readonly retryAtMs: number | null;
}

/** What the state file knows of how everything stands, for people who ask. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class OverviewReader {
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  /** What every source holds at every target, for people who ask how things stand. `nowMs`: epoch milliseconds. */
  tallies(nowMs: number): SourceTally[] {
    const rows = this.#query(
      `SELECT source, target,
         count(*) FILTER (WHERE there AND NOT waits),
         coalesce(sum(size_bytes) FILTER (WHERE there AND NOT waits), 0),
         count(*) FILTER (WHERE there AND verdict = 'stored'),
         count(*) FILTER (WHERE there AND verdict = 'searchable'),
         count(*) FILTER (WHERE there AND waits),
         coalesce(sum(size_bytes) FILTER (WHERE there AND waits), 0),
         count(*) FILTER (WHERE state = 'synced' AND absence IS NULL AND verdict = 'unsearchable' AND differs IS NULL
           AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE ((${IS_FAILED}) OR (${REMOVAL_FAILED}) OR (${IS_OTHERWISE})) AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE (${IS_SENDING}) AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE state = 'refused' AND absence IS NULL AND NOT ${HAS_PROBLEM}),
         count(*) FILTER (WHERE absence IS NOT NULL AND (uploaded = 1 OR state = 'sending')
           AND NOT (${IS_PUT_AWAY}) AND NOT (${REMOVAL_FAILED})),
         count(*) FILTER (WHERE ${REMOVAL_IS_DUE} AND NOT (${REMOVAL_FAILED})),
         min(expires_at) FILTER (WHERE state <> 'removing' AND expires_at > ?)
       FROM (SELECT *, ${IS_THERE} AS there, ${WAITS} AS waits FROM file AS record) AS record
       GROUP BY source, target ORDER BY source, target`,
      nowMs,
      nowMs,
    );
    mustMakeSense(rows.every((row) => isText(row[0]) && isMomentOrNull(row.at(-1))));
    return rows.map(([source, target, ...[files, bytes, stored, searchable, ...rest]]) => {
      const [unconfirmed, unconfirmedBytes, unsearchable, failed, sending, refused, ...others] = rest;
      const [left, removalsDue, nextExpiryMs] = others;
      return {
        source: source as string,
        target: target as number,
        files: files as number,
        bytes: bytes as number,
        stored: stored as number,
        searchable: searchable as number,
        unconfirmed: unconfirmed as number,
        unconfirmedBytes: unconfirmedBytes as number,
        unsearchable: unsearchable as number,
        failed: failed as number,
        sending: sending as number,
        refused: refused as number,
        left: left as number,
        removalsDue: removalsDue as number,
        nextExpiryMs: nextExpiryMs as number | null,
      };
    });
  }

  /**
   * Files of some sources that are not in sync, each at its target, with the reason, in path order: at most `limit`. One a
   * file; why a source is halted is no matter of a file.
   *
   * @param nowMs - the platform's time, epoch milliseconds.
   */
  failures(sources: ReadonlyMap<string, number>, limit: number, nowMs: number): Failure[] {
    const current = JSON.stringify([...sources]);
    const rows = this.#query(
      `WITH current AS (SELECT value ->> 0 AS source, value ->> 1 AS target FROM json_each(?1))
       SELECT source, path, key, iif(state = 'sending' AND failure IS NOT NULL, 'failed', state),
           coalesce(failure, 'being sent, or was when botsync ended'),
           CASE WHEN state = 'sending' THEN 'sending' WHEN state = 'refused' THEN 'change'
             WHEN ask_at IS NOT NULL THEN 'resend' WHEN renew_at <= ?3 AND expires_at > ?3 THEN 'renewal' ELSE 'pass' END,
           iif(state = 'failed', ask_at, NULL) FROM ${OWN}
         WHERE state IN ('failed', 'sending', 'refused') AND absence IS NULL AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, iif(verdict IS NULL, 'problem', 'unsearchable'), failure,
           iif(verdict IS NULL, 'ask', 'change'), iif(verdict IS NULL, ask_at, NULL) FROM ${OWN}
         WHERE state = 'synced' AND failure IS NOT NULL AND absence IS NULL AND differs IS NULL AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, 'failed', failure, 'pass', NULL FROM ${OWN}
         WHERE ${REMOVAL_FAILED} AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, 'failed', CASE differs WHEN 'replaced'
           THEN 'somebody else put another file in its place on the platform'
           WHEN 'facts' THEN 'the platform has it with other tags, metadata, policies or expiry than it was sent'
           ELSE 'the platform does not have it as it was sent' END,
           iif(differs = 'replaced', 'change', 'pass'), NULL FROM ${OWN}
         WHERE ${IS_OTHERWISE} AND NOT ${HAS_PROBLEM}
       UNION ALL SELECT source, path, key, kind, reason, iif(kind = 'refuse', 'change', 'pass'), NULL
         FROM problem JOIN current USING (source) WHERE path <> '.'
       ORDER BY 1, 2 LIMIT ?2`,
      ...[current, limit, nowMs],
    );
    const isSound = ([source, path, key, kind, reason, , atMs]: readonly unknown[]): boolean =>
      [source, path, kind, reason].every(isText) && (key === null || isText(key)) && isMomentOrNull(atMs);
    mustMakeSense(rows.every(isSound));
    return rows.map(
      ([source, path, key, kind, reason, retry, retryAtMs]) =>
        ({ source, path, key, kind, reason, retry, retryAtMs }) as Failure,
    );
  }

  /** Files that were not sent and have no row of their own to say so, by source. */
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

  /** What was said of a halt of a source, with what to do about it; `null`: nothing. */
  haltNotice(source: string): string | null {
    const [row] = this.#query("SELECT reason FROM problem WHERE source = ? AND path = '.'", source);
    return row === undefined ? null : String(row[0]);
  }

  /** What was done since a moment. Reads every row. */
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

function isMomentOrNull(value: unknown): boolean {
  return value === null || isMoment(value);
}

/** Something is told of a file that its own row, `record`, does not say. */
const HAS_PROBLEM =
  'EXISTS (SELECT 1 FROM problem WHERE problem.source = record.source AND problem.path = record.path)';

/** The platform was found to have it otherwise. */
const IS_OTHERWISE = "state = 'synced' AND absence IS NULL AND differs IS NOT NULL";

/** It failed, and may be being retried just now. */
const IS_FAILED = "(state = 'failed' OR (state = 'sending' AND failure IS NOT NULL)) AND absence IS NULL";

/** It is being sent, or was when botsync ended, and did not fail before. */
const IS_SENDING = "state = 'sending' AND failure IS NULL AND absence IS NULL";

/** The rows of the sources in question, each at its target. */
const OWN = 'file AS record JOIN current USING (source, target)';

/** The platform is asked what became of it. */
const WAITS = 'verdict IS NULL AND ask_at IS NOT NULL';

/** On the platform as it is here, as far as is known; a file that was let expire is not any more. Takes the time. */
const IS_THERE = `state = 'synced' AND absence IS NULL AND differs IS NULL AND verdict IS NOT 'unsearchable'
  AND (expires_at IS NULL OR expires_at > ?)
  AND NOT ${HAS_PROBLEM}`;
