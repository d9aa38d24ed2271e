import type { Sql } from '../../cluster/database.ts';
import { quoted } from '../../cluster/schema.ts';
import type { NoticeRecord } from '../../state/notices.ts';
import { mergeEntries, type TravellingRow } from './merge-entries.ts';

/** A conversation that was created, and whether a message ever arrived there. */
export interface ConversationOnRecord {
  readonly id: string;
  readonly isProven: boolean;
}

/** What people were told, by subject, and in which conversations, by purpose. */
export interface ToldBefore {
  readonly told: ReadonlyMap<string, NoticeRecord>;
  readonly conversations: ReadonlyMap<string, ConversationOnRecord>;
}

/**
 * What units with sources have on record of what people were told: an import brings it there. Nothing once one host told people for all:
 * what was told since is not there. Throws `DatabaseError`.
 */
export async function toldBefore(sql: Sql, schema: string): Promise<ToldBefore> {
  const merged = await entriesOfAll(
    sql,
    schema,
    `tbl IN ('told', 'conversation') AND NOT EXISTS
       (SELECT 1 FROM ${quoted(schema)}.unit WHERE json_array_length(sources) = 0 AND seq > 0)`,
  );
  const told = merged.filter(({ tbl }) => tbl === 'told');
  return {
    told: new Map(
      told.map(({ body: { subject, told_at, size } }) => [
        String(subject),
        { toldAtMs: Number(told_at), count: size === null ? null : Number(size) },
      ]),
    ),
    conversations: conversationsIn(merged),
  };
}

/** The conversations that any unit has on record, by purpose. Throws `DatabaseError`. */
export async function conversationsOnRecord(
  sql: Sql,
  schema: string,
): Promise<ReadonlyMap<string, ConversationOnRecord>> {
  return conversationsIn(await entriesOfAll(sql, schema, "tbl = 'conversation'"));
}

async function entriesOfAll(sql: Sql, schema: string, condition: string): Promise<TravellingRow[]> {
  const rows = await sql(
    `SELECT body FROM ${quoted(schema)}.entry WHERE host = '' AND ${condition} ORDER BY unit`,
  );
  return mergeEntries(rows.map(({ body }) => ({ shared: [body as TravellingRow], own: [], holders: [] })));
}

function conversationsIn(entries: readonly TravellingRow[]): ReadonlyMap<string, ConversationOnRecord> {
  const rows = entries.filter(({ tbl }) => tbl === 'conversation');
  return new Map(
    rows.map(({ body: { purpose, id, proven } }) => [
      String(purpose),
      { id: String(id), isProven: proven === 1 },
    ]),
  );
}
