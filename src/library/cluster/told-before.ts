import type { Sql } from '../../cluster/database.ts';
import { quoted } from '../../cluster/schema.ts';
import type { NoticeRecord } from '../../state/notices.ts';
import { mergeEntries, type TravellingRow } from './merge-entries.ts';

/** What people were told, by subject, and in which conversations. */
export interface ToldBefore {
  readonly told: ReadonlyMap<string, NoticeRecord>;
  readonly conversations: readonly {
    readonly purpose: string;
    readonly id: string;
    readonly isProven: boolean;
  }[];
}

/** What units with sources have on record of what people were told: an import brings it there. Throws `DatabaseError`. */
export async function toldBefore(sql: Sql, schema: string): Promise<ToldBefore> {
  const rows = await sql(
    `SELECT body FROM ${quoted(schema)}.entry WHERE tbl IN ('told', 'conversation') AND host = ''`,
  );
  const units = rows.map(({ body }) => ({ shared: [body as TravellingRow], own: [], holders: [] }));
  const merged = mergeEntries(units);
  const of = (table: string): TravellingRow['body'][] =>
    merged.filter(({ tbl }) => tbl === table).map(({ body }) => body);
  return {
    told: new Map(
      of('told').map(({ subject, told_at, size }) => [
        String(subject),
        { toldAtMs: Number(told_at), count: size === null ? null : Number(size) },
      ]),
    ),
    conversations: of('conversation').map(({ purpose, id, proven }) => ({
      purpose: String(purpose),
      id: String(id),
      isProven: proven === 1,
    })),
  };
}
