import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { childrenOf, isRunning } from './processes.ts';
import { choosePostgres, findServerUser } from './postgres-program.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

/** Not where another version is tried, nor on a platform without one. */
const hasPackage =
  process.env['BOTSYNC_POSTGRES'] === undefined &&
  ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(`${process.platform}-${process.arch}`);

describe('one server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.close();
  });

  test('it is reached over TCP and over its socket file, and each database is its own', async () => {
    const [one, other] = [await server.createDatabase(), await server.createDatabase()];
    await server.query('CREATE TABLE note (word text); CREATE ROLE reader LOGIN', one);
    const byTcp = await connect({ connectionString: server.url(one) });
    await byTcp.query("INSERT INTO note VALUES ('by TCP')");
    const bySocket = await connect({ connectionString: server.socketUrl(one) });
    expect((await bySocket.query('SELECT word FROM note')).rows).toEqual([{ word: 'by TCP' }]);
    expect(await server.query("SELECT to_regclass('note') AS note", other)).toEqual([{ note: null }]);
    const reader = await connect({ connectionString: server.url(one, 'reader') });
    await expect(reader.query('SELECT word FROM note')).rejects.toThrow('permission denied');
  });

  test('over TCP it has TLS, whose certificate holds for who trusts it and for nobody else', async () => {
    const ca = readFileSync(server.certificateFile, 'utf8');
    const trusting = await connect({ connectionString: server.url(), ssl: { ca } });
    const { rows } = await trusting.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
    const stranger = new pg.Client({ connectionString: server.url(), ssl: true });
    await expect(stranger.connect()).rejects.toThrow('self-signed certificate');
  });

  test('killed hard it is gone with all its processes, and on its port again it has every commit and nothing else', async () => {
    const database = await server.createDatabase();
    await server.query('CREATE TABLE note (n int)', database);
    const client = await connect({ connectionString: server.url(database) });
    const ended = new Promise<Error>((resolve) => client.once('error', resolve));
    for (let n = 0; n < 50; n++) await client.query('INSERT INTO note VALUES ($1)', [n]);
    await client.query('BEGIN; INSERT INTO note VALUES (50)');
    const pids = [pidOf(server), ...(await childrenOf(pidOf(server)))];
    expect(pids.length).toBeGreaterThan(4);

    await server.killHard();
    expect((await ended).message).toMatch(/terminated unexpectedly|ECONNRESET/u);
    expect(await Promise.all(pids.map(isRunning))).not.toContain(true);
    await expect(connect({ connectionString: server.url(database) })).rejects.toThrow('ECONNREFUSED');

    const { port } = server;
    await server.start();
    expect(server.port).toBe(port);
    const again = await connect({ connectionString: server.url(database) });
    expect((await again.query('SELECT count(*)::int AS rows, max(n) AS last FROM note')).rows).toEqual([
      { rows: 50, last: 49 },
    ]);
  });

  test('an older copy takes the commits away that came after it, as often as it is put back', async () => {
    const database = await server.createDatabase();
    await server.query('CREATE TABLE note (n int); INSERT INTO note VALUES (1)', database);
    const client = await connect({ connectionString: server.url(database) });
    const whileItRan = await server.snapshot();
    // The copy froze the server, and broke nothing.
    await client.query('INSERT INTO note VALUES (2)');
    await client.end();
    await server.stop();
    const whileItWasStopped = await server.snapshot();
    await server.start();
    await server.query('INSERT INTO note VALUES (3)', database);

    for (const [snapshot, rows] of [
      [whileItRan, [{ n: 1 }]],
      [whileItWasStopped, [{ n: 1 }, { n: 2 }]],
      [whileItRan, [{ n: 1 }]],
    ] as const) {
      await server.killHard();
      await server.restore(snapshot);
      await server.start();
      expect(await server.query('SELECT n FROM note ORDER BY n', database)).toEqual(rows);
    }
  });

  test('it runs as somebody who is not root', () => {
    const owner = statSync(join(dirname(server.certificateFile), 'data', 'postmaster.pid')).uid;
    expect(owner).toBe(findServerUser()?.uid ?? process.getuid?.());
    expect(owner).not.toBe(0);
  });
});

test('closed, also after it was killed, it leaves no process, no file and no memory', async () => {
  for (const kill of [false, true]) {
    const server = await startPostgres({ fsync: 'on' });
    expect(await server.query('SHOW fsync')).toEqual([{ fsync: 'on' }]);
    const directory = dirname(server.certificateFile);
    const pids = [pidOf(server), ...(await childrenOf(pidOf(server)))];
    const [line = ''] = readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8')
      .split('\n')
      .slice(6);
    const segment = line.trim().split(/\s+/u)[1] ?? '';
    expect(segments()).toContain(segment);
    if (kill) await server.killHard();
    await server.close();
    await server.close();
    expect({
      runs: (await Promise.all(pids.map(isRunning))).includes(true),
      directory: existsSync(directory),
      memory: segments().includes(segment),
    }).toEqual({ runs: false, directory: false, memory: false });
  }
});

test('a server that does not start says why', async () => {
  await expect(startPostgres({ shared_buffers: 'much' })).rejects.toThrow(
    /did not start:\n.*invalid value for parameter "shared_buffers": "much"/su,
  );
});

describe('which PostgreSQL', () => {
  const bin = (programs: readonly string[]): string => {
    const directory = join(makeTemporaryDirectory('postgres'), 'bin');
    mkdirSync(directory);
    for (const name of programs) writeFileSync(join(directory, name), '');
    return directory;
  };
  const both = ['initdb', 'postgres'];

  test('the named one, else the package, else the first complete one of the system', () => {
    const [named, packaged, half, system] = [bin(both), dirname(bin(both)), bin(['postgres']), bin(both)];
    const places = { named: null, packaged: null, system: [half, system] };
    expect(choosePostgres({ ...places, named, packaged })).toEqual({ kind: 'installed', bin: named });
    expect(choosePostgres({ ...places, packaged })).toEqual({ kind: 'packaged', directory: packaged });
    expect(choosePostgres(places)).toEqual({ kind: 'installed', bin: system });
  });

  test.runIf(hasPackage)("here it is the package's", async () => {
    expect(choosePostgres().kind).toBe('packaged');
    const server = await startPostgres();
    onTestFinished(() => server.close());
    const [row] = await server.query('SHOW server_version');
    expect(row?.['server_version']).toMatch(/^17\./u);
  });

  test('without any, tests fail and say what to install', () => {
    expect(() => choosePostgres({ named: null, packaged: null, system: [] })).toThrow(
      /There is no PostgreSQL for tests: .* Install PostgreSQL 13 or newer/u,
    );
    expect(() => choosePostgres({ named: '/nowhere', packaged: null, system: [bin(both)] })).toThrow(
      'BOTSYNC_POSTGRES names /nowhere',
    );
  });
});

async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(options);
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
  });
  return client;
}

function pidOf(server: PostgresServer): number {
  expect(server.pid).not.toBeNull();
  return server.pid ?? 0;
}

/** The ids of the shared memory that processes share by number. */
function segments(): string[] {
  return execFileSync('ipcs', ['-m'], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => line.split(/\s+/u).slice(1, 2));
}
