import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';
import { ClusterDatabase, type DatabaseSettings } from '../../src/cluster/postgres/database.ts';
import { Ledger } from '../../src/cluster/postgres/ledger.ts';
import type { Grant, ShippedRows, HostNews, UnitRow } from '../../src/cluster/shared-ledger.ts';
import { Membership } from '../../src/cluster/postgres/membership.ts';
import { ledgerTables } from '../../src/cluster/postgres/schema.ts';
import { entryTables } from '../../src/store/ledger-rows.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { WorkingCopy } from '../../src/store/working-copy.ts';
import { POLL } from '../cli/running-daemon.ts';
import { addSynced, attempt, closeAtEnd, connect, NOW, path, row, TARGET } from '../store/fixture.ts';
import { channelOf, HostMessages } from '../../src/cluster/postgres/messages.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { startBlackHole, type BlackHole } from './black-hole.ts';
import { serverOfFile } from './postgres.ts';

const SCHEMA = 'botsync "x"';
const NOTHING: ShippedRows = { files: '[]', droppedFiles: '[]', entries: '[]' };

const server = await serverOfFile();
let database: ClusterDatabase;
let ledger: Ledger;
let membership: Membership;
let name: string;

beforeEach(async () => {
  name = await server.createDatabase();
  database = new ClusterDatabase(settingsOf(server.url(name)));
  const mine = database;
  onTestFinished(() => mine.close());
  for (const statement of ledgerTables(SCHEMA)) await database.sql(statement);
  ledger = new Ledger(database.sql, SCHEMA);
  membership = new Membership(database.sql, SCHEMA);
});

function settingsOf(address: string): DatabaseSettings {
  const connection = connectionOf(address, 'test');
  if (connection.kind !== 'ok') throw new Error(connection.message);
  return { connection: connection.config, patienceMs: 10_000, connections: 4 };
}

const HOST: HostNews = {
  name: 'web1',
  instance: 'one',
  isVisitor: false,
  version: '1',
  units: [],
  hindrances: [],
  report: null,
  pausedForMs: 0,
};
const OTHER: HostNews = { ...HOST, name: 'web2', instance: 'two' };

async function declare(name = 'docs'): Promise<UnitRow> {
  const { id } = await ledger.target(TARGET);
  return membership.declare({ target: id, name, sources: [{ name, keyPrefix: `${name}/` }] });
}

const NOTHING_SEEN = { epoch: 0, seq: 0 };

async function claim(unit: UnitRow, by = HOST, highest = NOTHING_SEEN): Promise<Grant> {
  const grant = await membership.claim(unit, highest, by);
  if (grant === null) throw new Error('not to be had');
  return grant;
}

const unitNow = async (id: number): Promise<UnitRow> => {
  const unit = (await membership.look()).units.find((one) => one.id === id);
  if (unit === undefined) throw new Error('no unit');
  return unit;
};

async function load(copy: WorkingCopy, unit: number, host: string): Promise<void> {
  copy.loadTargets(await ledger.targets());
  for await (const page of ledger.rows(unit, host)) copy.load(page);
}

function fileIn(name: string): string {
  return join(makeTemporaryDirectory('cluster'), `${name}.db`);
}

/** A working copy whose changes go to the ledger under a grant. */
async function workOn(grant: Grant, file: string, host = 'web1'): Promise<StateStore> {
  const copy = new WorkingCopy(file);
  await load(copy, grant.unit, host);
  let { seq } = grant;
  const store = copy.begin(async (rows) => {
    expect(await ledger.ship(grant, seq, host, rows)).toBe('taken');
    seq += 1;
  });
  closeAtEnd(store);
  return store;
}

function rowsOf(file: string): Record<string, unknown[]> {
  const opened = connect(file);
  const names = ['file', ...entryTables(opened).map(({ name }) => name)];
  return Object.fromEntries(
    names.map((name) => [name, opened.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all()]),
  );
}

const fileOf = (key: string, state = 'synced', target = 1): string =>
  JSON.stringify([{ target, key, state, source: 'docs', path: key }]);

describe('the ledger', () => {
  test('gives to the next holder what the one before wrote', async () => {
    const unit = await declare();
    const [one, other, third] = [fileIn('one'), fileIn('other'), fileIn('third')];
    const store = await workOn(await claim(unit), one);
    const target = store.targetId(TARGET);
    for (let i = 0; i < 6000; i += 1) addSynced(store, target, 'docs', `f${i} ü "\\`);
    addSynced(store, target, 'docs', 'x'.repeat(5000));
    addSynced(store, target, 'docs', 'dropped');
    store.problems.note(
      {
        source: 'docs',
        path: 'p\u0001'.repeat(2000),
        key: null,
        kind: 'refuse',
        reason: { kind: 'tag-too-long', tag: 'a \u0000', mostCharacters: 1 },
      },
      1,
    );
    store.saveSource('docs', { directory: '/d', identity: '1', halt: null });
    store.saveMounts('docs', ['m']);
    store.removals.note('docs', NOW);
    store.savePass(3, NOW, 0, '{}');
    await store.beginSending(row(target, 'last'), 'docs', path('last'), attempt(), NOW);
    store.forget(row(target, 'dropped'));
    await store.beginSending(row(target, 'last'), 'docs', path('last'), attempt(), NOW);

    const copy = new WorkingCopy(other);
    await load(copy, unit.id, 'web1');
    closeAtEnd(copy);
    const expected = rowsOf(one);
    expect(expected['file']).toHaveLength(6002);
    expect(rowsOf(other)).toEqual(expected);

    const elsewhere = new WorkingCopy(third);
    await load(elsewhere, unit.id, 'web2');
    closeAtEnd(elsewhere);
    expect(rowsOf(third), 'what one host sees of its disks is not of another').toEqual({
      ...expected,
      source: [],
      mount: [],
    });
  });

  test('takes nothing from a process that holds the unit no more', async () => {
    const unit = await declare();
    const before = await claim(unit);
    const after = await claim(await unitNow(unit.id), OTHER);
    expect(after.epoch).toBeGreaterThan(before.epoch);
    expect(await ledger.ship(before, 0, 'web1', { ...NOTHING, files: fileOf('late') })).toBe('lost');
    expect(await ledger.ship(after, 0, 'web2', { ...NOTHING, files: fileOf('own') })).toBe('taken');
    await ledger.release(before);
    expect((await unitNow(unit.id)).holder).toBe('two');
    await ledger.release(after);
    expect(await ledger.ship(after, 1, 'web2', { ...NOTHING, files: fileOf('late') })).toBe('lost');
    expect(await database.sql(`SELECT body ->> 'key' AS key FROM "botsync ""x""".file`)).toEqual([
      { key: 'own' },
    ]);
  });

  test('takes nothing that a process sent before it lost the unit and took it again', async () => {
    const unit = await declare();
    const before = await claim(unit);
    const after = await claim(await unitNow(unit.id));
    expect(after).toMatchObject({ instance: before.instance, seq: before.seq });
    const late = { ...NOTHING, files: fileOf('late') };
    expect(await ledger.ship(before, before.seq, 'web1', late)).toBe('lost');
    expect(await database.sql(`SELECT FROM "botsync ""x""".file`)).toEqual([]);
  });

  test('counts a shipment once whose answer was lost', async () => {
    const grant = await claim(await declare());
    const rows = { ...NOTHING, files: fileOf('a') };
    expect(await ledger.ship(grant, 0, 'web1', rows)).toBe('taken');
    expect(await ledger.ship(grant, 0, 'web1', rows)).toBe('taken');
    expect(await ledger.ship(grant, 1, 'web1', { ...NOTHING, droppedFiles: '[[1,"a"]]' })).toBe('taken');
    expect(await ledger.ship(grant, 0, 'web1', rows), 'a packet that comes late').toBe('taken');
    expect(await database.sql(`SELECT count(*)::integer AS count FROM "botsync ""x""".file`)).toEqual([
      { count: 0 },
    ]);
  });

  test('counts a shipment once that is sent again before the first sending is through', async () => {
    const grant = await claim(await declare());
    const rows = { ...NOTHING, files: fileOf('a') };
    const other = await server.connect(name);
    await other.query(`BEGIN; SELECT FROM "botsync ""x""".unit WHERE id = ${grant.unit} FOR UPDATE`);
    const sendings = [1, 2, 3].map(() => ledger.ship(grant, 0, 'web1', rows));
    await expect
      .poll(() =>
        server.query(`SELECT FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`),
      )
      .toHaveLength(3);
    await other.query('COMMIT');
    expect(await Promise.all(sendings)).toEqual(['taken', 'taken', 'taken']);
    expect(await unitNow(grant.unit)).toMatchObject({ seq: 1 });
  });

  test('is known to be older than what it took before', async () => {
    const grant = await claim(await declare());
    expect(await ledger.ship(grant, 3, 'web1', { ...NOTHING, files: fileOf('a') })).toBe('lost');
  });

  test('gives no row of one unit to another', async () => {
    const [docs, faq] = [await claim(await declare('docs')), await claim(await declare('faq'))];
    expect(await ledger.ship(docs, 0, 'web1', { ...NOTHING, files: fileOf('same') })).toBe('taken');
    expect(await ledger.ship(faq, 0, 'web1', { ...NOTHING, files: fileOf('same', 'sending') })).toBe(
      'foreign',
    );
    expect(await ledger.ship(faq, 1, 'web1', { ...NOTHING, droppedFiles: '[[1,"same"]]' })).toBe('taken');
    expect(await database.sql(`SELECT unit, state FROM "botsync ""x""".file`)).toEqual([
      { unit: docs.unit, state: 'synced' },
    ]);
  });
});

test('what the database says is told without the password, in whichever form', async () => {
  const url = new URL(server.url(name));
  const password = 'pass*word/of the (base)';
  url.password = encodeURIComponent(password);
  const other = new ClusterDatabase({ ...settingsOf(url.href), connections: 1 });
  onTestFinished(() => other.close());
  for (const form of [password, encodeURIComponent(password), url.password, url.password.toLowerCase()])
    await expect(other.sql(`SELECT "${form}"`), form).rejects.toMatchObject({
      kind: 'refused',
      message: `column "***" does not exist (127.0.0.1:${server.port})`,
    });
  const all = other.sql(`SELECT "${url.href}"`);
  await expect(all).rejects.toMatchObject({ message: expect.stringMatching(/\*{3}/u) as string });
  await expect(all).rejects.toMatchObject({ message: expect.not.stringContaining('word') as string });
});

test('hosts wake each other in a schema with as long a name as there may be', async () => {
  const schemas = ['botsync', 'a'.repeat(55), 'a'.repeat(56), 'a'.repeat(63), `${'a'.repeat(62)}b`];
  const heard: string[] = [];
  const end = new AbortController();
  const listening = schemas.map((schema) =>
    new HostMessages(database, schema).onWake(
      (host) => heard.push(`${schema} of ${host}`),
      () => Promise.resolve(),
      end.signal,
    ),
  );
  for (const schema of schemas) {
    // What is said before anybody listens is lost.
    await expect
      .poll(async () => {
        await new HostMessages(database, schema).wake('web1');
        return heard;
      }, POLL)
      .toContain(`${schema} of web1`);
  }
  end.abort();
  await Promise.all(listening);
  expect(new Set(schemas.map(channelOf)).size, 'each by a channel of its own').toBe(schemas.length);
  expect(channelOf('botsync'), 'what hosts of the version before listen to').toBe('botsync_botsync');
});

describe('who listens', () => {
  /** Somebody who listens, encrypted, over a way that can be cut, and hears. */
  async function listenBy(): Promise<{
    readonly way: BlackHole;
    readonly heard: readonly string[];
    readonly tell: (what: string) => Promise<readonly string[]>;
    readonly close: () => Promise<void>;
  }> {
    const way = await startBlackHole('127.0.0.1', server.port);
    onTestFinished(() => way.close());
    const checked = `?sslmode=verify-full&sslrootcert=${server.certificateFile}`;
    const connection = connectionOf(way.lead(server.url(name) + checked), 'test');
    if (connection.kind !== 'ok') throw new Error(connection.message);
    const settings = { connection: connection.config, patienceMs: 500, connections: 1 };
    const led = new ClusterDatabase(settings);
    const heard: string[] = [];
    const listening = led.listen(
      'botsync_x',
      (payload) => heard.push(payload),
      () => Promise.resolve(),
      new AbortController().signal,
    );
    const tell = async (what: string): Promise<readonly string[]> => {
      await database.sql('SELECT pg_notify($1, $2)', ['botsync_x', what]);
      return heard;
    };
    await expect.poll(() => tell('first'), POLL).toContain('first');
    return { way, heard, tell, close: () => Promise.all([led.close(), listening]).then(() => undefined) };
  }

  test('hears again after the network was cut in silence', async () => {
    const { way, heard, tell, close } = await listenBy();
    await way.blackHole();
    await tell('lost');
    await expect.poll(() => way.counts.swallowedBytes, POLL).toBeGreaterThan(0);
    // The connection of before stays silent; new ones are none the worse.
    await way.pass();
    await expect.poll(() => tell('after'), POLL).toContain('after');
    expect(heard).not.toContain('lost');
    await close();
  });

  test('ends also while the network is cut in silence', async () => {
    const { way, close } = await listenBy();
    await way.blackHole();
    await close();
  });
});

describe('a unit', () => {
  test('is taken by one of many who try at once', async () => {
    const unit = await declare();
    const tries = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        membership.claim(unit, NOTHING_SEEN, { name: `h${i}`, instance: `p${i}` }),
      ),
    );
    expect(tries.filter((grant) => grant !== null)).toHaveLength(1);
  });

  test('is not to be had once it was proven since it was seen', async () => {
    await membership.join(HOST);
    const unit = await declare();
    const grant = await claim(unit);
    const seen = await unitNow(unit.id);
    const view = await membership.beat(HOST, [{ ...grant, settledAgeMs: null }]);
    expect(view).toMatchObject({ isKnown: true, proven: [unit.id] });
    expect(await membership.claim(seen, NOTHING_SEEN, OTHER)).toBeNull();
    expect(await membership.claim(await unitNow(unit.id), NOTHING_SEEN, OTHER)).not.toBeNull();
    expect(await membership.beat(HOST, [{ ...grant, settledAgeMs: null }])).toMatchObject({ proven: [] });
  });

  test('is locked by a beat after those with lower numbers, so that no two beats wait for each other', async () => {
    await membership.join(HOST);
    const units = [await declare('a'), await declare('b')];
    const grants = [
      await claim(await unitNow(units[0]?.id ?? 0)),
      await claim(await unitNow(units[1]?.id ?? 0)),
    ];
    // The first comes last on the disk.
    await database.sql(`UPDATE "botsync ""x""".unit SET seq = seq WHERE id = ${units[0]?.id}`);
    const other = await server.connect(name);
    await other.query(`BEGIN; SELECT FROM "botsync ""x""".unit WHERE id = ${units[0]?.id} FOR UPDATE`);
    const beating = membership.beat(
      HOST,
      [...grants].reverse().map((grant) => ({ ...grant, settledAgeMs: null })),
    );
    await expect
      .poll(() =>
        server.query(`SELECT FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`),
      )
      .toHaveLength(1);
    const free = await database.sql(`SELECT name FROM "botsync ""x""".unit FOR UPDATE SKIP LOCKED`);
    expect(free).toEqual([{ name: 'b' }]);
    await other.query('COMMIT');
    expect((await beating).proven).toHaveLength(2);
  });

  test('never gets an epoch twice that somebody has seen', async () => {
    const grant = await claim(await declare(), HOST, { epoch: 41, seq: 7 });
    expect(grant).toMatchObject({ epoch: 42, seq: 7, isInDoubt: true });
    // So it stays until somebody has compared its records, whoever takes it.
    const next = await claim(await unitNow(grant.unit), OTHER, { epoch: 42, seq: 7 });
    expect(next).toMatchObject({ epoch: 43, seq: 7, isInDoubt: true });
    await ledger.noteCompared(grant);
    expect(await claim(await unitNow(grant.unit))).toMatchObject({ isInDoubt: true });
    const last = await claim(await unitNow(grant.unit));
    await ledger.noteCompared(last);
    expect(await claim(await unitNow(grant.unit))).toMatchObject({ isInDoubt: false });
  });
});

describe('a text that JSON has and PostgreSQL has not', () => {
  const [NUL, HALF] = ['\\u0000', '\\ud83d'];
  const S = '"botsync ""x"""';

  test('in a row keeps no host from seeing how everything stands', async () => {
    await membership.join(HOST);
    const unit = await declare();
    const grant = await claim(unit);
    for (const bad of [NUL, HALF]) {
      await database.sql(`UPDATE ${S}.unit SET sources = $1`, [`[{"name":"${bad}","keyPrefix":""}]`]);
      await database.sql(`UPDATE ${S}.host SET report = $1`, [`{"a":"${bad}"}`]);
      await database.sql(`INSERT INTO ${S}.wish (unit, kind, body) VALUES ($1, 'rescan', $2)`, [
        unit.id,
        `{"path":"${bad}"}`,
      ]);
      const text = JSON.parse(`"${bad}"`) as string;
      const all = { units: [{ id: unit.id, sources: [{ name: text, keyPrefix: '' }] }] };
      expect(await membership.look()).toMatchObject({ ...all, hosts: [{ report: { a: text } }] });
      const view = await membership.beat(HOST, [{ ...grant, settledAgeMs: null }]);
      expect(view).toMatchObject({ ...all, proven: [unit.id], hosts: [{ name: 'web1', report: null }] });
      expect(view.commands.at(-1)?.body).toEqual({ path: text });
    }
  });

  test('is written as one that hosts of the version before can read', async () => {
    const said = { a: 'x\0y\ud83dz\udc00', '\0': ['\\u0000 \\\\ud83d "\\', '🙂'] };
    const stored = { a: 'x\ufffdy\ufffdz\ufffd', '\ufffd': said['\0'] };
    const report = JSON.stringify(said);
    await membership.join({ ...HOST, report });
    await membership.join(OTHER);
    await membership.beat({ ...OTHER, report }, []);
    const { id } = await ledger.target(TARGET);
    const sources = [{ name: 'docs\ud83d', keyPrefix: '\0' }];
    const unit = await membership.declare({ target: id, name: 'docs', sources });
    await membership.addCommand(unit.id, 'rescan', said);
    const read = await database.sql(
      // As they read them.
      `SELECT (SELECT json_agg(to_jsonb(row)) FROM ${S}.host AS row) AS hosts,
         (SELECT to_jsonb(row) FROM ${S}.unit AS row) AS unit, (SELECT to_jsonb(row) FROM ${S}.wish AS row) AS wish`,
    );
    expect(read).toMatchObject([
      {
        hosts: [{ report: stored }, { report: stored }],
        unit: { sources: [{ name: 'docs\ufffd', keyPrefix: '\ufffd' }] },
        wish: { body: stored },
      },
    ]);
  });
});

describe('a host', () => {
  test('learns that another process has its name', async () => {
    await membership.join(HOST);
    await membership.join({ ...HOST, instance: 'newer' });
    expect((await membership.beat(HOST, [])).isKnown).toBe(false);
    const newer = { ...HOST, instance: 'newer', units: [4], report: '{"a":1}' };
    expect((await membership.beat(newer, [])).isKnown).toBe(true);
    expect((await membership.look()).hosts).toMatchObject([{ name: 'web1', instance: 'newer', units: [4] }]);
    await membership.leave(HOST);
    expect((await membership.look()).hosts).toMatchObject([{ report: { a: 1 } }]);
    await membership.leave({ ...HOST, instance: 'newer' });
    expect((await membership.look()).hosts).toEqual([]);
  });

  test('hears once what others wish of a unit', async () => {
    const unit = await declare();
    await membership.addCommand(unit.id, 'approve', { source: 'docs' });
    const [wish] = (await membership.look()).commands;
    expect(wish).toMatchObject({ unit: unit.id, kind: 'approve', body: { source: 'docs' } });
    expect(
      await Promise.all([membership.takeCommand(wish?.id ?? 0), membership.takeCommand(wish?.id ?? 0)]),
    ).toEqual(expect.arrayContaining([true, false]));
  });
});
