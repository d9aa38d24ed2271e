import { copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { openState } from '../../src/state/open.ts';
import { addSending, addSynced, connect, NOW, SHA } from '../state/fixture.ts';
import { start } from '../cli/binary.ts';
import { createClusterSite, PASSWORD, SITE_TARGET } from './cluster-site.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Tables that are no host's. */
const EVERY_TABLE = [
  ...['file', 'source', 'mount', 'problem', 'removal', 'rereading', 'adoption', 'suspect', 'target'],
  ...['pass', 'told', 'conversation', 'announcement', 'clock', 'told_settings', 'unserved_operation'],
  'verification',
];

/** A state file with something in every table. */
function writeRecords(file: string, files = 20): void {
  const opened = openState(file, { checkThoroughly: false, nowMs: NOW });
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
  const { store } = opened;
  const target = store.targetId(SITE_TARGET);
  const other = store.targetId({ ...SITE_TARGET, botId: 'former' });
  for (let i = 0; i < files; i += 1) addSynced(store, target, 'docs', `d${i} ü`, { key: `a/d${i} ü` });
  addSynced(store, target, 'faq', 'f', { key: 'a/faq/f' });
  addSending(store, target, 'docs', 'open', 'a/open');
  addSynced(store, target, 'news', 'n', { key: 'news/n', expiresAtMs: NOW });
  addSynced(store, target, 'own', 'o', { key: 'own/o' });
  addSynced(store, target, 'gone', 'g', { key: 'gone/g' });
  addSynced(store, other, 'docs', 'd', { key: 'a/d' });
  for (const source of ['docs', 'faq', 'news', 'own', 'gone']) {
    store.saveSource(source, {
      directory: `/${source}`,
      identity: '1',
      halted: source === 'faq' ? 'why' : null,
    });
    store.saveMounts(source, ['m']);
    store.removals.note(source, NOW);
    store.problems.note({ source, path: 'p', key: null, kind: 'refuse', reason: 'r' }, 3);
  }
  store.savePass(3, NOW, 0, '{}');
  store.close();
  const database = new DatabaseSync(file);
  const sha = SHA.toString('hex');
  database.exec(`
    INSERT INTO rereading VALUES ('docs', 5, 6), ('own', 7, 8);
    INSERT INTO adoption VALUES (1, 'docs', 1), (1, 'own', 0), (2, 'docs', 1);
    INSERT INTO suspect VALUES (1, 'a/open', 9);
    INSERT INTO told VALUES ('["halted","docs"]', 1, 2), ('["summary"]', 3, NULL), ('["failing","own"]', 4, 5);
    INSERT INTO conversation VALUES ('{}', 'c1', 1);
    INSERT INTO announcement VALUES (1, x'${sha}', 'a/d1 ü', NULL, 1), (1, x'00', 'a/faq/f', 'https://x', 2);
    INSERT INTO clock VALUES (1, 1234);
    INSERT INTO told_settings VALUES ('settings', '{}');
    INSERT INTO unserved_operation VALUES (1, 'list', 'no', 1, 0);
    INSERT INTO verification VALUES (1, 77, '{}');
    INSERT INTO history SELECT 60000, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, NULL;
    PRAGMA wal_checkpoint(TRUNCATE);`);
  database.close();
}

function tablesOf(file: string, tables = EVERY_TABLE): Record<string, unknown[]> {
  const opened = connect(file);
  return Object.fromEntries(
    tables.map((table) => [
      table,
      opened.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3`.replace(', 3', '')).all(),
    ]),
  );
}

describe('records', () => {
  test('move to the ledger and back, and nothing is lost on the way', async () => {
    const site = await createClusterSite(server);
    writeRecords(site.stateFile);
    const before = tablesOf(site.stateFile);
    const early = await site.botsync('cluster', 'import');
    expect(early).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('botsync cluster init') as string,
    });

    expect(await site.botsync('cluster', 'init')).toMatchObject({ code: 0, stderr: '' });
    const dry = await site.botsync('cluster', 'import', '--dry-run', '--json');
    expect(dry.code, dry.stderr).toBe(0);
    expect(dry.lines()).toMatchObject([
      {
        dryRun: true,
        units: [
          { name: 'docs+faq', files: { sending: 1, synced: 21 }, ledger: null },
          { name: 'news', files: { synced: 1 }, ledger: null },
        ],
        filesLeft: 3,
        keptAs: null,
      },
    ]);
    expect(tablesOf(site.stateFile)).toEqual(before);
    expect((await site.membership.look()).units).toEqual([]);

    const imported = await site.botsync('cluster', 'import');
    expect(imported.code, imported.stderr).toBe(0);
    expect(imported.stdout).toMatch(/^docs\+faq +synced +21 +21$/mu);
    expect(imported.stdout).toMatch(/^docs\+faq +sending +1 +1$/mu);
    const { units } = await site.membership.look();
    expect(units).toMatchObject([
      { name: 'docs+faq', holder: null, holderHost: 'web1', pinned: null },
      { name: 'news', holder: null },
    ]);
    const names = readdirSync(dirname(site.stateFile));
    const kept = names.filter((name) => /^state\.db\.imported-[-\dT.Z]+$/u.test(name));
    expect(kept).toHaveLength(1);
    expect(names.filter((name) => name.includes('rest'))).toEqual([]);
    expect(tablesOf(join(dirname(site.stateFile), kept[0] ?? ''))).toEqual(before);

    const parts = await site.database.sql(
      `SELECT unit.name || ' ' || tbl || ' ' || (body ->> 'key') AS part FROM botsync.entry JOIN botsync.unit ON unit.id = unit
       WHERE tbl IN ('told', 'suspect', 'announcement') ORDER BY 1`,
    );
    const number = units[0]?.target;
    expect(
      parts.map(({ part }) => String(part)).sort(),
      'of what is of one source no other unit has anything',
    ).toEqual([
      `docs+faq announcement [${number},"00"]`,
      `docs+faq announcement [${number},"${SHA.toString('hex')}"]`,
      `docs+faq suspect [${number},"a/open"]`,
      'docs+faq told ["[\\"halted\\",\\"docs\\"]"]',
      'docs+faq told ["[\\"summary\\"]"]',
      `news announcement [${number},"${SHA.toString('hex')}"]`,
      'news told ["[\\"summary\\"]"]',
    ]);

    const rest = tablesOf(site.stateFile, [...EVERY_TABLE, 'history']);
    expect(rest['file']).toMatchObject([
      { source: 'gone' },
      { source: 'own' },
      { source: 'docs', target: 2 },
    ]);
    expect(rest['source']).toMatchObject([{ name: 'gone' }, { name: 'own' }]);
    expect(rest['history']).toHaveLength(1);
    expect(statSync(site.stateFile).mode & 0o777).toBe(0o600);

    const to = join(site.directory, 'alone.db');
    const exported = await site.botsync('cluster', 'export', '--to', 'alone.db');
    expect(exported.code, exported.stderr).toBe(0);
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(existsSync(`${to}-wal`)).toBe(false);
    const after = tablesOf(to);
    expect(after['target']).toMatchObject([{ bot_id: 'bot-1' }]);
    // The ledger gives targets numbers of its own.
    const [{ id } = { id: 0 }] = after['target'] as { id: number }[];
    for (const table of EVERY_TABLE.filter((name) => name !== 'target')) {
      const expected = (before[table] as { target?: number; source?: string; name?: string }[]).filter(
        ({ target, source, name }) => target !== 2 && source !== 'gone' && name !== 'gone',
      );
      expect(after[table], table).toEqual(
        expected.map((one) => (one.target === undefined ? one : { ...one, target: id })),
      );
    }
    const again = await site.botsync('cluster', 'export', '--to', 'alone.db');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is there already') as string });
  });

  test('are imported once: a file that was not renamed in time is, one with other records is refused', async () => {
    const site = await createClusterSite(server);
    writeRecords(site.stateFile);
    const copy = join(site.directory, 'copy.db');
    copyFileSync(site.stateFile, copy);
    await site.botsync('cluster', 'init');
    expect((await site.botsync('cluster', 'import')).code).toBe(0);
    const rest = statSync(site.stateFile);
    expect(await site.botsync('cluster', 'import')).toMatchObject({
      code: 0,
      stdout: 'The state file has no files of sources that hosts share: there is nothing to import.\n',
    });
    expect(statSync(site.stateFile).ino, 'it is left alone').toBe(rest.ino);
    copyFileSync(copy, site.stateFile);
    const again = await site.botsync('cluster', 'import', '--json');
    expect(again.lines()).toMatchObject([{ units: [{ wasThere: true }, { wasThere: true }] }]);
    expect(readdirSync(dirname(site.stateFile)).filter((name) => name.includes('imported'))).toHaveLength(2);
    const database = connect(copy);
    database.exec("UPDATE file SET state = 'failed', failure = 'x' WHERE path = 'n'");
    database.close();
    copyFileSync(copy, site.stateFile);
    const other = await site.botsync('cluster', 'import');
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not from this state file') as string,
    });
    expect(other.stderr).not.toContain(PASSWORD);
    expect(readdirSync(dirname(site.stateFile)).filter((name) => name.includes('rest'))).toEqual([]);
  });

  test('are in the ledger whole or not at all, wherever an import is killed', async () => {
    const site = await createClusterSite(server);
    writeRecords(site.stateFile, 60_000);
    await site.botsync('cluster', 'init');
    const { child, ended } = start(site.directory, ['cluster', 'import'], site.env);
    await expect
      .poll(
        async () =>
          (
            await server.query(
              `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = '${site.name}' AND query LIKE 'WITH fence%'`,
            )
          )[0]?.['n'],
        { interval: 5, timeout: 20_000 },
      )
      .toBe(1);
    child.kill('SIGKILL');
    expect((await ended).code).toBeNull();
    expect((await site.membership.look()).units).toEqual([]);
    const again = await site.botsync('cluster', 'import', '--json');
    expect(again.stderr).toBe('');
    expect(again.lines()).toMatchObject([
      { units: [{ ledger: { synced: 60_001, sending: 1 }, wasThere: false }, {}] },
    ]);
  });

  test('of units that a host works on are neither imported nor exported; those of a host that is gone are', async () => {
    const site = await createClusterSite(server);
    writeRecords(site.stateFile);
    await site.botsync('cluster', 'init');
    const copy = join(site.directory, 'copy.db');
    copyFileSync(site.stateFile, copy);
    expect((await site.botsync('cluster', 'import')).code).toBe(0);
    const [unit] = (await site.membership.look()).units;
    if (unit === undefined) throw new Error('no unit');
    const host = {
      name: 'web2',
      instance: 'one',
      weight: 1,
      version: '1',
      digest: '',
      units: [],
      report: null,
    };
    await site.membership.join(host);
    const grant = await site.membership.claim(unit, 0, host);
    if (grant === null) throw new Error('not to be had');
    const beats = setInterval(() => void site.membership.beat(host, [{ ...grant, settledAgeMs: null }]), 500);
    copyFileSync(copy, site.stateFile);
    const both = await Promise.all([
      site.botsync('cluster', 'import'),
      (await createClusterSite(server, { name: site.name })).botsync('cluster', 'export', '--to', 'x.db'),
    ]);
    clearInterval(beats);
    for (const { code, stderr } of both) {
      expect(code).toBe(2);
      expect(stderr).toContain('web2');
    }
    const exported = await site.botsync('cluster', 'export', '--to', 'x.db');
    expect(exported.code, exported.stderr).toBe(0);
    expect((await site.membership.beat(host, [{ ...grant, settledAgeMs: null }])).proven).toEqual([]);
  });
});

describe('a role', () => {
  test('that has the rights that init prints can work, and has no others', async () => {
    const owner = await createClusterSite(server);
    const made = await owner.botsync('cluster', 'init', '--json', '--role', 'worker');
    const [{ grants, ledger } = {}] = made.lines() as { grants?: string[]; ledger?: string }[];
    expect(ledger).toBe('created');
    await server.query(`CREATE ROLE worker LOGIN`);
    await server.query((grants ?? []).join('\n'), owner.name);
    const site = await createClusterSite(server, { name: owner.name, role: 'worker' });
    writeRecords(site.stateFile);
    expect(await site.botsync('cluster', 'init')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is up to date') as string,
    });
    expect(await site.botsync('cluster', 'import')).toMatchObject({ code: 0, stderr: '' });
    expect(await site.botsync('cluster', 'export', '--to', 'x.db')).toMatchObject({ code: 0, stderr: '' });

    const bare = await createClusterSite(server, { role: 'worker' });
    const refused = await bare.botsync('cluster', 'init');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('CREATE SCHEMA') as string });
    const spilled = await bare.botsync(
      'cluster',
      'init',
      '--database',
      `postgresql://x:${PASSWORD}@127.0.0.1/x`,
    );
    expect(spilled).toMatchObject({ code: 2, stderr: expect.stringContaining('env:NAME') as string });
    const missing = await bare.botsync('cluster', 'init', '--database', 'file:owner');
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('--database') as string });
    writeFileSync(join(bare.directory, 'owner'), server.url(bare.name), { mode: 0o600 });
    const asOwner = await bare.botsync('cluster', 'init', '--database', 'file:owner', '--json');
    expect(asOwner.lines(), asOwner.stderr).toMatchObject([{ ledger: 'created' }]);
    await server.query('DROP SCHEMA botsync CASCADE; CREATE SCHEMA botsync AUTHORIZATION worker', bare.name);
    expect(await bare.botsync('cluster', 'init')).toMatchObject({ code: 0, stderr: '' });
    expect(`${refused.stderr}${made.stdout}${spilled.stderr}`).not.toContain(PASSWORD);
  });
});
