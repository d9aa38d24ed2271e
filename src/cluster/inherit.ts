import type { Grant } from './ledger.ts';
import { isInPart, partsOfUnit, type Asking } from './parts-of-a-unit.ts';
import { quoted } from './schema.ts';

/** What is taken over. */
export interface Inheritance {
  /** Numbers of the units that nobody has in a configuration any more. */
  readonly from: readonly number[];
  /** What keys begin with. */
  readonly prefixes: readonly string[];
}

/**
 * Takes over the records of units that nobody has in a configuration any more, as far as their keys begin with one of some prefixes:
 * a part of them at a time, since the leases of a host cannot be proven while a statement has its unit. No statement does anything
 * where the unit is not held by this grant, and all leave alone what somebody holds. What is about a file comes with it. What is not
 * about one key is copied, and goes once no file is left. Whoever ends in between leaves files to either unit: the next holder goes
 * on. Gives how many files were taken over. Throws `DatabaseError`.
 */
export async function inherit(
  asking: Asking,
  { unit, epoch, instance }: Grant,
  { from, prefixes }: Inheritance,
): Promise<number> {
  const { sql, answer } = asking;
  const s = quoted(asking.schema);
  const given = (former: readonly number[]): unknown[] => [
    ...[unit, epoch, instance],
    JSON.stringify(former),
    JSON.stringify(prefixes.map((prefix) => prefix.normalize('NFC'))),
  ];
  const full = await answer(() =>
    sql(`SELECT unit FROM ${s}.file WHERE unit = ANY ($1::integer[]) GROUP BY unit ORDER BY unit`, [from]),
  );
  let count = 0;
  for (const former of full.map((row) => Number(row['unit'])))
    for await (const part of partsOfUnit(asking, former)) {
      const [row] = await answer(() => sql(filesStatement(s), [...given([former]), ...part]));
      count += Number(row?.['count'] ?? 0);
    }
  await answer(() => sql(restStatement(s), given(from)));
  return count;
}

/** SQL for whether a key begins with one of the prefixes. */
function isOurs(key: string): string {
  return `EXISTS (SELECT FROM json_array_elements_text($5::json) AS prefix WHERE starts_with(${key}, prefix))`;
}

/** SQL for the key of the file that an entry is about. */
const KEY = "entry.body -> 'body' ->> 'key'";

/** $1 unit, $2 epoch, $3 process, $4 numbers of units, $5 prefixes of keys. A former unit that was seen before cannot be claimed any more. */
function fences(s: string): string {
  return `fence AS (SELECT target FROM ${s}.unit WHERE id = $1 AND epoch = $2 AND holder = $3 FOR UPDATE),
    former AS (
      UPDATE ${s}.unit AS unit SET epoch = unit.epoch + 1, beat = unit.beat + 1
      FROM fence
      WHERE unit.id IN (SELECT json_array_elements_text($4::json)::integer) AND unit.holder IS NULL AND unit.pinned IS NULL
        AND unit.target = fence.target RETURNING unit.id, unit.target)`;
}

/** SQL for entries to be this unit's. */
function put(s: string): string {
  return `INSERT INTO ${s}.entry (unit, tbl, host, key_hash, body)
      SELECT DISTINCT ON (tbl, host, key_hash) $1, tbl, host, key_hash, body FROM entries ORDER BY tbl, host, key_hash, unit
      ON CONFLICT DO NOTHING`;
}

/** SQL for entries not to be the former unit's any more. */
function drop(s: string): string {
  return `DELETE FROM ${s}.entry AS entry USING entries AS gone
      WHERE entry.unit = gone.unit AND entry.tbl = gone.tbl AND entry.host = gone.host AND entry.key_hash = gone.key_hash`;
}

/** See `fences`; $6 and $7: the part. Files, and what is about each of them. */
function filesStatement(s: string): string {
  return `WITH ${fences(s)},
    files AS (
      UPDATE ${s}.file AS file SET unit = $1 FROM former
      WHERE file.unit = former.id AND file.target = former.target AND ${isInPart('file.key_hash', 6)}
        AND ${isOurs("file.body ->> 'key'")} RETURNING 1),
    entries AS MATERIALIZED (
      SELECT entry.* FROM ${s}.entry AS entry JOIN former ON entry.unit = former.id
      WHERE ${isInPart(`sha256(convert_to(${KEY}, 'UTF8'))`, 6)} AND ${isOurs(KEY)}),
    entries_put AS (${put(s)}),
    entries_gone AS (${drop(s)})
    SELECT count(*) AS count FROM files`;
}

/** See `fences`. What is about no file, and what is about no file that is left. */
function restStatement(s: string): string {
  return `WITH ${fences(s)},
    emptied AS MATERIALIZED (
      SELECT id FROM former WHERE NOT EXISTS (SELECT FROM ${s}.file AS file WHERE file.unit = former.id)),
    entries AS MATERIALIZED (
      SELECT entry.* FROM ${s}.entry AS entry JOIN former ON entry.unit = former.id
      WHERE ${KEY} IS NULL OR ${isOurs(KEY)} OR entry.unit IN (SELECT id FROM emptied)),
    entries_put AS (${put(s)}),
    entries_gone AS (${drop(s)} AND (gone.body -> 'body' ->> 'key' IS NOT NULL OR entry.unit IN (SELECT id FROM emptied)))
    SELECT count(*) AS count FROM entries`;
}
