/** A row of a table other than that of files, as it travels. */
export interface TravellingRow {
  readonly tbl: string;
  /** What names it, as JSON. */
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Rows of one unit, or of the sources that a host keeps itself. */
export interface RowsOfUnit {
  /** That are the same on all hosts. */
  readonly shared: readonly TravellingRow[];
  /** Of tables of which each host has its own: those of this host. */
  readonly own: readonly TravellingRow[];
  /** The same of the host that works on the unit, or did last. */
  readonly holders: readonly TravellingRow[];
}

/** Which of two rows of different units stays where the table has room for one, by what stands in this column: the greater. */
const DECIDING: Readonly<Record<string, string>> = {
  pass: 'finished_at',
  verification: 'finished_at',
  told: 'told_at',
  unserved_operation: 'asked_at',
  conversation: 'proven',
  clock: 'ahead',
};

/** Puts together what units have on record, as one state file would have it. */
export function mergeEntries(units: readonly RowsOfUnit[]): TravellingRow[] {
  const merged = new Map<string, TravellingRow>();
  const numbered: TravellingRow[] = [];
  for (const unit of units) {
    for (const row of [...unit.shared, ...rowsOfHosts(unit)]) {
      // Its rows have nothing but their places as names, which each working copy gives out by itself.
      if (row.tbl === 'removal') numbered.push({ ...row, body: { ...row.body, rowid: null } });
      else {
        const name = JSON.stringify([row.tbl, row.key]);
        const other = merged.get(name);
        merged.set(name, other === undefined ? row : oneOf(other, row));
      }
    }
  }
  return [...merged.values(), ...numbered];
}

/** What is seen of directories is this host's own, where it has seen them; whether they are halted the holder knows. */
function rowsOfHosts({ own, holders }: RowsOfUnit): TravellingRow[] {
  const isSource = ({ tbl }: TravellingRow): boolean => tbl === 'source';
  const seen = new Map(own.filter(isSource).map((row) => [row.body['name'], row]));
  const halts = new Map(holders.filter(isSource).map(({ body }) => [body['name'], body['halted']]));
  return [
    ...own.map((row) => {
      const name = row.body['name'];
      return isSource(row) && halts.has(name)
        ? { ...row, body: { ...row.body, halted: halts.get(name) ?? null } }
        : row;
    }),
    ...holders.filter(({ tbl, body }) => !seen.has(body[tbl === 'source' ? 'name' : 'source'])),
  ];
}

function oneOf(one: TravellingRow, other: TravellingRow): TravellingRow {
  // One of them has told people of this content.
  if (one.tbl === 'announcement') return one.body['url'] === null ? one : other;
  const column = DECIDING[one.tbl];
  if (column === undefined) return one;
  const later = Number(other.body[column]) > Number(one.body[column]) ? other : one;
  if (one.tbl !== 'pass') return later;
  // Rows name the pass that saw them: the next one must have a number that none of them has.
  const number = Math.max(Number(one.body['number']), Number(other.body['number']));
  return { ...later, body: { ...later.body, number } };
}
