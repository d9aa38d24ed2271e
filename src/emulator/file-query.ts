/** The columns a list of files can be sorted by, as the interface calls them. */
export const SORT_FIELDS = ['key', 'size', 'createdAt', 'updatedAt', 'status'] as const;

/** A field to sort by. */
export type SortField = (typeof SORT_FIELDS)[number];

/** Which files are asked for. */
export interface FileQuery {
  readonly botId: string;
  /** '' for the bot itself, which sees all its files; an integration sees its own and those meant for integrations. */
  readonly integrationId: string;
  /** Every one of them must be on the file with this value. */
  readonly tags: Readonly<Record<string, string>>;
  /** Null for all. */
  readonly ids: readonly string[] | null;
  /** Whether the files are to be indexed; null for both. */
  readonly indexed: boolean | null;
  readonly sortField: SortField;
  readonly sortDirection: 'asc' | 'desc';
  /** Where the page before ended: the sorted value and the id of its last file. */
  readonly after: FilePosition | null;
  readonly size: number;
}

/** The place of a file in a sorted list. */
export type FilePosition = readonly [value: string | number, id: string];

/**
 * A statement, `position_value` added to the columns of its rows, and what to bind. Reads one row more than the page has.
 * `table`: that of the files, or one of the same columns.
 */
export function buildFileQuery(
  query: FileQuery,
  table: string,
): { sql: string; parameters: (string | number)[] } {
  const sorted = SORT_EXPRESSIONS[query.sortField];
  const conditions: { sql: string; parameters: readonly (string | number)[] }[] = [
    // The plus keeps SQLite from walking through all files in their order, in search of a few ids.
    { sql: query.ids === null ? 'bot_id = ?' : '+bot_id = ?', parameters: [query.botId] },
    ...Object.entries(query.tags).map((tag) => ({
      sql: `EXISTS (SELECT 1 FROM json_each(details, '$.tags') WHERE key = ? AND value = ?)`,
      parameters: tag,
    })),
  ];
  if (query.integrationId !== '') {
    conditions.push({
      sql: `(integration_id = ? OR EXISTS
        (SELECT 1 FROM json_each(details, '$.accessPolicies') WHERE value = 'integrations'))`,
      parameters: [query.integrationId],
    });
  }
  if (query.ids !== null) {
    conditions.push({
      sql: `id IN (SELECT value FROM json_each(?))`,
      parameters: [JSON.stringify(query.ids)],
    });
  }
  if (query.indexed !== null) {
    conditions.push({ sql: 'indexed = ?', parameters: [query.indexed ? 1 : 0] });
  }
  if (query.after !== null) {
    const comparison = query.sortDirection === 'asc' ? '>' : '<';
    conditions.push({ sql: `(${sorted}, id) ${comparison} (?, ?)`, parameters: query.after });
  }
  return {
    sql: `SELECT *, ${sorted} AS position_value FROM ${table}
      WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
      ORDER BY ${sorted} ${query.sortDirection}, id ${query.sortDirection} LIMIT ?`,
    parameters: [...conditions.flatMap(({ parameters }) => parameters), query.size + 1],
  };
}

/** `file_size` and `file_status` are functions of ours: both follow from the clock. */
const SORT_EXPRESSIONS: Readonly<Record<SortField, string>> = {
  key: 'key_order',
  size: 'file_size(size, life)',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  status: 'file_status(key, indexed, life)',
};
