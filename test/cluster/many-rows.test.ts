import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { connectionOf } from '../../src/cluster/connection.ts';
import { ClusterDatabase, DatabaseError, type Sql } from '../../src/cluster/database.ts';
import { Ledger, type Grant } from '../../src/cluster/ledger.ts';
import { Membership } from '../../src/cluster/membership.ts';
import { ledgerTables } from '../../src/cluster/schema.ts';
import { TARGET } from '../state/fixture.ts';
import { serverOfFile } from './postgres.ts';

/** Rows of a unit, more than are changed at a time. */
const ROWS = Number(process.env['MANY'] ?? 12_000);

/** So many of them have something else on record. */
const SUSPECTS = 50;

/** Most rows that one statement changes. */
const MOST = 5000;

const server = await serverOfFile();
let database: ClusterDatabase;
let membership: Membership;

beforeEach(async () => {
  const name = await server.createDatabase();
  const connection = connectionOf(server.url(name), 'test');
  if (connection.kind !== 'ok') throw new Error(connection.message);
  database = new ClusterDatabase({ connection: connection.config, patienceMs: 30_000, connections: 4 });
  const mine = database;
  onTestFinished(() => mine.close());
  for (const statement of ledgerTables('botsync')) await database.sql(statement);
  membership = new Membership(database.sql, 'botsync');
  await database.sql('CREATE TABLE changed (rows bigint)');
  await database.sql(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO changed SELECT count(*) FROM old_rows; RETURN NULL; END'`);
  for (const event of ['UPDATE', 'DELETE'])
    await database.sql(`CREATE TRIGGER note_${event} AFTER ${event} ON botsync.file
      REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note()`);
});

/** How many rows the statement changed that changed most, and all of them together. */
async function changed(): Promise<unknown> {
  const [row] = await database.sql(
    `SELECT max(rows) <= ${MOST} AS "inParts", sum(rows)::integer AS all FROM changed`,
  );
  return row;
}

async function claim(name: string, instance = 'one'): Promise<Grant> {
  const { id: target } = await new Ledger(database.sql, 'botsync').target(TARGET);
  const sources = [{ name, keyPrefix: 'docs/' }];
  const unit = await membership.declare({ target, name, sources, pinned: null });
  const grant = await membership.claim(unit, 0, { name: 'web1', instance });
  if (grant === null) throw new Error('not to be had');
  return grant;
}

/** Gives a unit many files, something about some of them, and something about none. */
async function fill({ unit }: Grant): Promise<void> {
  await database.sql(
    `INSERT INTO botsync.file (target, key_hash, unit, epoch, state, body)
     SELECT 1, sha256(convert_to('docs/' || i, 'UTF8')), $1, 1, 'synced',
       json_build_object('target', 1, 'key', 'docs/' || i, 'state', 'synced', 'source', 'docs', 'path', 'some/path/' || i,
         'size', i, 'mtime', 1767225600000 + i, 'hash', encode(sha256(convert_to(i::text, 'UTF8')), 'hex'))
     FROM generate_series(1, $2::integer) AS i`,
    [unit, ROWS],
  );
  await database.sql(
    `INSERT INTO botsync.entry (unit, tbl, host, key_hash, body)
     SELECT $1::integer, 'suspect', '', sha256(convert_to(i::text, 'UTF8')),
       json_build_object('tbl', 'suspect', 'body', json_build_object('key', 'docs/' || i))
     FROM generate_series(1, ${SUSPECTS}) AS i
     UNION ALL SELECT $1::integer, 'pass', '', sha256('x'), '{"tbl":"pass","body":{"id":1}}'`,
    [unit],
  );
}

async function whose(table: 'file' | 'entry'): Promise<unknown[]> {
  return [
    ...(await database.sql(
      `SELECT unit.name, count(*)::integer AS rows FROM botsync.${table} AS row JOIN botsync.unit ON unit.id = row.unit
       GROUP BY unit.name ORDER BY unit.name`,
    )),
  ];
}

/** Asks the database until it has changed files in so many statements, and not any more then. */
function endingAfter(statements: number): Sql {
  return async (text, values) => {
    const [row] = await database.sql('SELECT count(*)::integer AS count FROM changed WHERE rows > 0');
    if (Number(row?.['count']) >= statements) throw new DatabaseError('unreachable', 'ended', null);
    return await database.sql(text, values);
  };
}

test('records of a unit that is no more are taken over in parts, by the next holder where one ended in between', async () => {
  const former = await claim('docs');
  await fill(former);
  await database.sql('UPDATE botsync.unit SET holder = NULL');
  const before = await claim('papers');
  const ending = new Ledger(endingAfter(1), 'botsync').inherit(before, {
    from: [former.unit],
    prefixes: ['docs/'],
  });
  await expect(ending).rejects.toMatchObject({ message: 'ended' });
  expect(await whose('file')).toMatchObject([{ name: 'docs' }, { name: 'papers' }]);
  const apart = await database.sql(
    `SELECT FROM botsync.entry JOIN botsync.file ON file.body ->> 'key' = entry.body -> 'body' ->> 'key'
     WHERE entry.unit <> file.unit`,
  );
  expect(apart, 'a file is taken over with what is about it').toEqual([]);
  const [unit] = (await membership.look()).units.filter(({ id }) => id === before.unit);
  if (unit === undefined) throw new Error('no unit');
  const after = await membership.claim(unit, 0, { name: 'web2', instance: 'two' });
  if (after === null) throw new Error('not to be had');
  const ledger = new Ledger(database.sql, 'botsync');
  const parts = await whose('file');
  expect(
    await ledger.inherit(before, { from: [former.unit], prefixes: ['docs/'] }),
    'it is another one now',
  ).toBe(0);
  expect(await whose('file')).toEqual(parts);
  expect(await ledger.inherit(after, { from: [former.unit], prefixes: ['docs/'] })).toBeLessThan(ROWS);
  expect(await whose('file')).toEqual([{ name: 'papers', rows: ROWS }]);
  expect(await whose('entry')).toEqual([{ name: 'papers', rows: SUSPECTS + 1 }]);
  expect(await changed()).toEqual({ inParts: true, all: ROWS });
});

test('records are dropped in parts to be shipped again, and a statement for it that comes late drops nothing', async () => {
  const grant = await claim('docs');
  await fill(grant);
  const sent: Parameters<Sql>[] = [];
  const noting: Sql = (...statement) => {
    sent.push(statement);
    return database.sql(...statement);
  };
  const seq = await new Ledger(noting, 'botsync').clear(grant, 'web1', () => true);
  expect(seq).toBe(1);
  expect([await whose('file'), await whose('entry')]).toEqual([[], []]);
  expect(await changed()).toEqual({ inParts: true, all: ROWS });

  const ledger = new Ledger(database.sql, 'botsync');
  const shipment = {
    files: JSON.stringify([{ target: 1, key: 'docs/1', state: 'synced' }]),
    droppedFiles: '[]',
    entries: JSON.stringify([{ tbl: 'suspect', key: '["docs/1"]', ofHost: 0, body: { key: 'docs/1' } }]),
  };
  expect(await ledger.ship(grant, 1, 'web1', shipment)).toBe('taken');
  for (const statement of sent) await database.sql(...statement);
  expect(await whose('file')).toEqual([{ name: 'docs', rows: 1 }]);
  expect(await whose('entry')).toEqual([{ name: 'docs', rows: 1 }]);
  expect((await membership.look()).units).toMatchObject([{ seq: 2 }]);

  expect(await ledger.clear(grant, 'web1', () => false), 'its lease is over').toBeNull();
  // Somebody else has it.
  await database.sql(`UPDATE botsync.unit SET epoch = epoch + 1, holder = 'two'`);
  expect(await ledger.clear(grant, 'web1', () => true)).toBeNull();
  expect(await whose('file')).toEqual([{ name: 'docs', rows: 1 }]);
});
