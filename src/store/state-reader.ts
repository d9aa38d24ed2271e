import { haltSchema, type Halt } from '../domain/guard.ts';
import type { RereadState } from '../domain/rereading.ts';
import type { Pause } from '../domain/pause.ts';
import { NoticeReader } from './notices.ts';
import { guarded, isJson, isMoment, isText, mustMakeSense } from './database.ts';
import { FileReader } from './file-reader.ts';
import { HistoryReader } from './history.ts';
import { OverviewReader } from './overview-reader.ts';
import { RemoteReader } from './remote.ts';

/** One bot at one address under one identity (canonical JSON of the identity headers). */
export interface SyncTarget {
  readonly baseUrl: string;
  readonly botId: string;
  readonly identity: string;
}

/** A source as the last pass saw it. */
export interface SeenSource {
  readonly directory: string;
  /** Identifies the directory: another value may mean that it was replaced. */
  readonly identity: string;
  readonly halt: Halt | null;
}

/** Reads the state file. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class StateReader extends FileReader {
  readonly notices: NoticeReader = new NoticeReader((sql, ...values) => this.all(sql, ...values));
  readonly remote: RemoteReader = new RemoteReader((sql, ...values) => this.all(sql, ...values));
  readonly overview = new OverviewReader((sql, ...values) => this.all(sql, ...values));
  readonly history: HistoryReader = new HistoryReader((sql, ...values) => this.all(sql, ...values));
  /** Numbers of targets without a row. */
  readonly #unused = new Map<string, number>();

  /** The number of a target. A target that was never used has no records, and gets a number below zero. */
  targetId({ baseUrl, botId, identity }: SyncTarget): number {
    const named = [baseUrl, botId, identity] as const;
    const row = this.get(
      'SELECT id FROM target WHERE base_url = ? AND bot_id = ? AND identity = ?',
      ...named,
    );
    if (row !== undefined) return Number(row[0]);
    const name = JSON.stringify(named);
    const unused = this.#unused.get(name) ?? -1 - this.#unused.size;
    this.#unused.set(name, unused);
    return unused;
  }

  /** The progress of reading a source again (see src/domain/rereading.ts); `null`: it has not begun. */
  rereading(source: string): RereadState | null {
    const row = this.get('SELECT position, at FROM rereading WHERE source = ?', source);
    if (row === undefined) return null;
    const [position, atMs] = row;
    mustMakeSense(isMoment(position) && isMoment(atMs));
    return { position, atMs };
  }

  countRemovals(source: string, sinceMs: number): number {
    return Number(
      this.get('SELECT count(*) FROM removal WHERE source = ? AND at >= ?', source, sinceMs)?.[0],
    );
  }

  targetsOf(source: string): { readonly target: number; readonly botId: string }[] {
    const rows = this.all(
      'SELECT id, bot_id FROM target WHERE EXISTS (SELECT 1 FROM file WHERE target = id AND source = ?) ORDER BY id',
      source,
    );
    mustMakeSense(rows.every(([, botId]) => isText(botId)));
    return rows.map(([target, botId]) => ({ target: Number(target), botId: botId as string }));
  }

  source(name: string): SeenSource | null {
    const row = this.get('SELECT directory, identity, halt FROM source WHERE name = ?', name);
    if (row === undefined) return null;
    const [directory, identity, halt = null] = row;
    mustMakeSense([directory, identity].every(isText) && (halt === null || isText(halt)));
    return {
      ...({ directory, identity } as Omit<SeenSource, 'halt'>),
      halt: halt === null ? null : parseHalt(halt),
    };
  }

  /** The last target and key prefix of a source's files, as `placeOfSource` writes them; `null`: none yet. */
  place(source: string): string | null {
    const [place = null] = this.get('SELECT place FROM place WHERE source = ?', source) ?? [];
    mustMakeSense(place === null || (isText(place) && isJson(place)));
    return place;
  }

  /** Where other file systems were mounted below a source after its last complete walk. */
  mounts(source: string): string[] {
    const rows = this.all('SELECT path FROM mount WHERE source = ? ORDER BY path', source);
    mustMakeSense(rows.every(([path]) => isText(path)));
    return rows.map(([path]) => path as string);
  }

  /** The number of rows that this connection has written: while it stays the same, only time can change what is read. */
  changes(): number {
    return Number(this.get('SELECT total_changes()')?.[0]);
  }

  /** By how much the platform's clock was ahead of ours, milliseconds. */
  platformAheadMs(): number {
    return Number(this.get('SELECT ahead FROM clock')?.[0] ?? 0);
  }

  /** When a service was last known to use the state file; `null`: only single passes used it. */
  serviceAliveAtMs(): number | null {
    const [aliveAtMs = null] = this.get('SELECT alive_at FROM service') ?? [];
    mustMakeSense(aliveAtMs === null || isMoment(aliveAtMs));
    return aliveAtMs;
  }

  /** The pause of the service by a command, also one that is over; `null`: none. */
  pause(): Pause | null {
    const row = this.get('SELECT since, until FROM pause');
    if (row === undefined) return null;
    const [sinceMs, untilMs] = row;
    mustMakeSense(isMoment(sinceMs) && (untilMs === null || isMoment(untilMs)));
    return { sinceMs, untilMs };
  }

  /** The number for the next pass. */
  nextPassNumber(): number {
    // A killed pass may have left only its problems.
    const known = 'SELECT number FROM pass UNION ALL SELECT pass FROM problem';
    return Number(this.get(`SELECT coalesce(max(number), 0) + 1 FROM (${known})`)?.[0]);
  }

  close(): void {
    guarded(() => {
      this.database.close();
    });
  }
}

/** Throws `StateFileError` for anything that botsync did not write. */
function parseHalt(column: string): Halt {
  let value: unknown = null;
  try {
    value = JSON.parse(column);
  } catch {
    // `null` is no halt: `mustMakeSense` throws below.
  }
  const halt = haltSchema.safeParse(value);
  mustMakeSense(halt.success);
  return halt.data;
}
