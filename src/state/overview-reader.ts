import { IS_PUT_AWAY, REMOVAL_FAILED } from './conditions.ts';
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
  /** Sent, while the platform has not said yet what became of them. */
  readonly unconfirmed: number;
  readonly unconfirmedBytes: number;
  /** The platform has them, and could not index them. */
  readonly unsearchable: number;
  readonly failed: number;
  readonly refused: number;
  /** No longer synced, and left alone on the platform. */
  readonly kept: number;
  /** Epoch milliseconds. */
  readonly nextExpiryMs: number | null;
}

/** A file that is not in sync. */
export interface Failure {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly kind: 'failed' | 'sending' | 'refused' | 'refuse' | 'problem' | 'pending';
  readonly reason: string;
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
         count(*) FILTER (WHERE state = 'synced' AND absence IS NULL AND verdict = 'unsearchable'),
         count(*) FILTER (WHERE (state IN ('failed', 'sending') AND absence IS NULL) OR (${REMOVAL_FAILED})
           OR (${IS_OTHERWISE})),
         count(*) FILTER (WHERE state = 'refused' AND absence IS NULL),
         count(*) FILTER (WHERE absence IS NOT NULL AND (uploaded = 1 OR state = 'sending')
           AND NOT (${IS_PUT_AWAY}) AND NOT (${REMOVAL_FAILED})),
         min(expires_at) FILTER (WHERE state <> 'removing' AND expires_at > ?)
       FROM (SELECT *, ${IS_THERE} AS there, ${WAITS} AS waits FROM file)
       GROUP BY source, target ORDER BY source, target`,
      nowMs,
      nowMs,
    );
    mustMakeSense(rows.every(([source, , , , , , , , , , , , at]) => isText(source) && isMomentOrNull(at)));
    return rows.map(([source, target, ...[files, bytes, stored, searchable, ...rest]]) => {
      const [unconfirmed, unconfirmedBytes, unsearchable, failed, refused, kept, nextExpiryMs] = rest;
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
        refused: refused as number,
        kept: kept as number,
        nextExpiryMs: nextExpiryMs as number | null,
      };
    });
  }

  /** Files of some sources that are not in sync, each at its target, with the reason, in path order: at most `limit`. */
  failures(sources: ReadonlyMap<string, number>, limit: number): Failure[] {
    const current = JSON.stringify([...sources]);
    const rows = this.#query(
      `WITH current AS (SELECT value ->> 0 AS source, value ->> 1 AS target FROM json_each(?))
       SELECT source, path, key, state, coalesce(failure, 'being sent, or was when botsync ended') FROM file
         JOIN current USING (source, target)
         WHERE state IN ('failed', 'sending', 'refused') AND absence IS NULL
       UNION ALL SELECT source, path, key, iif(verdict IS NULL, 'problem', 'failed'), failure FROM file
         JOIN current USING (source, target)
         WHERE state = 'synced' AND failure IS NOT NULL AND absence IS NULL
       UNION ALL SELECT source, path, key, 'failed', failure FROM file JOIN current USING (source, target)
         WHERE ${REMOVAL_FAILED}
       UNION ALL SELECT source, path, key, 'failed', CASE differs WHEN 'replaced'
           THEN 'somebody else put another file in its place on the platform'
           WHEN 'facts' THEN 'the platform has it with other tags, metadata, policies or expiry than it was sent'
           ELSE 'the platform does not have it as it was sent' END FROM file JOIN current USING (source, target)
         WHERE ${IS_OTHERWISE}
       UNION ALL SELECT source, path, key, kind, reason FROM problem JOIN current USING (source)
       ORDER BY 1, 2 LIMIT ?`,
      current,
      limit,
    );
    mustMakeSense(
      rows.every((row) => row.every((value, column) => isText(value) || (column === 2 && value === null))),
    );
    return rows.map(([source, path, key, kind, reason]) => ({ source, path, key, kind, reason }) as Failure);
  }

  /** Files refused without being sent, by source. */
  refusedHere(): Map<string, number> {
    const rows = this.#query("SELECT source, count(*) FROM problem WHERE kind = 'refuse' GROUP BY source");
    return new Map(rows.map(([source, count]) => [source as string, count as number]));
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

/** The platform was found to have it otherwise. */
const IS_OTHERWISE = "state = 'synced' AND absence IS NULL AND differs IS NOT NULL";

/** The platform is asked what became of it. */
const WAITS = 'verdict IS NULL AND ask_at IS NOT NULL';

/** On the platform as it is here, as far as is known; a file that was let expire is not any more. Takes the time. */
const IS_THERE = `state = 'synced' AND absence IS NULL AND differs IS NULL AND verdict IS NOT 'unsearchable'
  AND (expires_at IS NULL OR expires_at > ?)
  AND NOT EXISTS (SELECT 1 FROM problem WHERE problem.source = file.source AND problem.path = file.path)`;
