import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkLedger } from '../../src/cli/doctor/check-ledger.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { POLL } from '../cli/running-daemon.ts';
import { createHosts, type Host } from './hosts.ts';
import { serverOfFile, startPostgres } from './postgres.ts';

const server = await serverOfFile();

describe('cluster', () => {
  test('status and release say who has what, and move it', async () => {
    const hosts = await createHosts(server);
    const made = await hosts.host('owner').run('cluster', 'init', '--json', '--role', 'worker');
    const { grants } = made.lines()[0] as { grants: string[] };
    await server.query('CREATE ROLE worker LOGIN');
    await hosts.sql(grants.join('\n'));
    // Hosts work with these rights, and no others.
    const databaseUrl = server.url(hosts.database, 'worker');
    const web1 = hosts.host('web1', { databaseUrl });
    const web2 = hosts.host('web2', { databaseUrl });
    const none = await web1.run('cluster', 'status');
    expect(none).toMatchObject({
      code: 0,
      stdout: 'No host has taken part yet.\n',
    });
    expect(await web1.run('cluster', 'release')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('this host (web1) holds no unit') as string,
    });
    const daemons = { web1: web1.launch(), web2: web2.launch() };
    hosts.write('docs/a.md', 'first');
    await expect.poll(() => hosts.emulator.readContent('bot-1', 'a.md')?.toString(), POLL).toBe('first');
    await expect.poll(async () => (await hosts.sql('SELECT 1 FROM botsync.host')).length, POLL).toBe(2);
    const from = (await hosts.holder()) === 'web1' ? 'web1' : 'web2';
    const to = from === 'web1' ? 'web2' : 'web1';

    const status = await web1.run('cluster', 'status', '--json');
    expect(status.code, status.stderr).toBe(0);
    expect(status.lines()).toMatchObject([
      {
        hosts: [
          { name: 'web1', state: 'alive', holds: from === 'web1' ? ['docs'] : [] },
          { name: 'web2', state: 'alive', holds: from === 'web2' ? ['docs'] : [] },
        ],
        units: [
          {
            name: 'docs',
            holder: { host: from, state: 'alive' },
            epoch: 1,
            files: { synced: 1 },
            candidates: ['web1', 'web2'],
            configured: true,
          },
        ],
        unheld: [],
      },
    ]);
    const moved = await web1.run('cluster', 'release', 'docs', '--json');
    expect(moved.lines(), moved.stderr).toEqual([{ unit: 'docs', from, to }]);
    expect(await hosts.holder()).toBe(to);
    expect(await hosts.sql('SELECT * FROM botsync.wish')).toEqual([]);
    expect(await web1.run('cluster', 'release', 'news')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unit not found: "news"; the ledger has: docs') as string,
    });

    daemons[to].child.kill('SIGSTOP');
    daemons[from].child.kill('SIGKILL');
    const silent = await web1.run('cluster', 'status');
    expect(silent.code).toBe(3);
    expect(silent.stdout).toContain(`docs  ${to} (silent)`);
    expect(silent.stdout).toContain('docs is held by no host that was heard of: no host is up.');
    daemons[to].child.kill('SIGKILL');

    // Whose source is gone from all configurations, and nobody holds: it is over.
    await hosts.sql('UPDATE botsync.unit SET holder = NULL');
    expect((await web1.run('cluster', 'status')).code, 'all hosts are gone').toBe(3);
    const directory = hosts.share;
    const other = hosts.host('web3', { databaseUrl, config: { sources: [{ name: 'all', directory }] } });
    expect(await other.run('cluster', 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'docs is in the configuration of no host that was heard of, nor of this one',
      ) as string,
    });

    const findings = async (): Promise<string> => (await web1.run('doctor')).stdout;
    expect(await findings()).toContain('this role may use it');
    await hosts.sql('REVOKE INSERT ON botsync.file FROM worker; REVOKE ALL ON botsync.wish FROM worker');
    expect(await findings()).toContain(
      'lacks rights on the schema "botsync": INSERT on file, SELECT on wish',
    );
  });
});

/** What `doctor` says of a host's database. `offMs`: so far is the host's clock ahead of this machine's. */
async function findings(host: Host, offMs = 0): Promise<readonly string[]> {
  const loaded = loadConfig(join(host.directory, 'botsync.json'));
  if (loaded.kind === 'invalid' || loaded.config.cluster === null) throw new Error('no cluster');
  const diagnoses = await checkLedger(loaded, loaded.config.cluster, host.env, () => Date.now() + offMs);
  return diagnoses.map(({ finding: { status, message, fix } }) => `${status}: ${message}; ${fix}`);
}

describe('doctor', () => {
  test('warns of a clock that is more than ten seconds off, and names host, reason and fix', async () => {
    const host = (await createHosts(server)).host('web1');
    const aboutClocks = async (offMs: number): Promise<string[]> =>
      (await findings(host, offMs)).filter((one) => one.includes('clock'));
    expect(await aboutClocks(0)).toEqual([]);
    expect(await aboutClocks(9000), 'they are never quite the same').toEqual([]);
    const fix =
      'have a time service set both: timedatectl set-ntp true. When a unit moves, removals.delay and cluster.suspectAfter go on by the clock of the next host';
    for (const [offMs, words] of [
      [61_000, "1 min ahead of the database's"],
      [-61_000, "1 min behind the database's"],
    ] as const)
      expect(await aboutClocks(offMs)).toEqual([`warn: the clock of this host (web1) is ${words}; ${fix}`]);
  });

  test('says whether a failover of the database, or a crash of it, loses what it has taken', async () => {
    const durable = await startPostgres({ fsync: 'on' });
    onTestFinished(() => durable.close());
    const hosts = await createHosts(durable);
    const host = hosts.host('web1');
    const said = async (words: string): Promise<void> => {
      await expect.poll(() => findings(host), POLL).toContainEqual(expect.stringContaining(words));
    };
    const set = async (change: string): Promise<void> => {
      await durable.query(`ALTER SYSTEM ${change}`);
      await durable.query('SELECT pg_reload_conf()');
    };
    await said('ok: the database has no standby; with one, make it synchronous (synchronous_standby_names)');

    // To the server, whoever begins to replicate is a standby.
    const standby = new pg.Client({
      ...{ host: '127.0.0.1', port: durable.port, user: 'postgres', replication: 'true' },
    });
    standby.on('error', () => undefined);
    await standby.connect();
    const lossy =
      'warn: the standbys of the database are not synchronous: a failover may lose the latest records; set';
    await said(`${lossy} synchronous_standby_names.`);
    await set(`SET synchronous_standby_names = '*'`);
    await said('ok: standbys are synchronous: a failover loses no records');
    // The role of the hosts may be one whose commits wait for nobody.
    await set('SET synchronous_commit = local');
    await said(`${lossy} synchronous_commit to on.`);
    await set('SET synchronous_commit = off');
    await said(
      'warn: the database says that it has taken records before they are on its disk (synchronous_commit',
    );

    await set('RESET synchronous_commit');
    await standby.end();
    await said('warn: the database waits for a synchronous standby, and has none');
  });
});

describe('an address of the database', () => {
  test('is used only where the server proves its name; what is wrong with its certificate is said', async () => {
    const hosts = await createHosts(server);
    const [plain, checked] = [server.url(hosts.database), '?sslmode=verify-full'];
    const trusted = `${checked}&sslrootcert=${server.certificateFile}`;
    // The same address, by a name that is not in the certificate.
    const otherName = plain.replace('127.0.0.1', '127.1');
    const ask = async (databaseUrl: string) =>
      await hosts.host('web1', { databaseUrl }).run('cluster', 'status');
    expect(await ask(plain + trusted)).toMatchObject({ code: 0, stderr: '' });
    for (const [address, words] of [
      [
        plain + checked,
        /self-signed certificate \(127\.0\.0\.1:\d+\); its certificate has to be .*sslrootcert/u,
      ],
      [otherName + trusted, /does not match .*; its certificate has to be valid for the host/su],
    ] as const) {
      const { code, stderr } = await ask(address);
      expect(code).toBe(3);
      expect(stderr).toMatch(words);
    }
    // What the server says stays one line.
    const noDatabase = await ask(server.url('no%0Asuch%1Bdatabase'));
    expect(noDatabase).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /refuses: database "no such\\u001bdatabase" does not exist \(127\.0\.0\.1:\d+\); create this database/u,
      ) as string,
    });
    const missing = await ask(`${plain}${checked}&sslrootcert=/nowhere/ca.pem`);
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('names /nowhere/ca.pem, which cannot be read: ENOENT') as string,
    });
  });
});

describe('a ledger', () => {
  test('is used by hosts of its version only, and completed where a table is missing', async () => {
    const hosts = await createHosts(server);
    const web1 = hosts.host('web1');
    hosts.write('docs/a.md', 'a');
    expect((await web1.run('sync', '--once')).code).toBe(0);
    const again = await web1.run('cluster', 'init', '--json');
    expect(again.lines()).toMatchObject([{ ledger: 'unchanged' }]);
    await hosts.sql('DROP TABLE botsync.wish');
    const incomplete = await web1.run('cluster', 'status');
    expect(incomplete).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /refuses: relation "botsync.wish" does not exist \(127\.0\.0\.1:\d+\); run: botsync cluster init\n$/u,
      ) as string,
    });
    const whole = await web1.run('cluster', 'init', '--json');
    expect(whole.lines(), whole.stderr).toMatchObject([{ ledger: 'updated' }]);
    const next = await web1.run('sync', '--once', '--json');
    expect(next.lines().at(-1), next.stderr).toMatchObject({ uploaded: 0, unchanged: 1 });

    const daemon = web1.launch();
    await expect.poll(() => hosts.holder(), POLL).toBe('web1');
    await hosts.sql('UPDATE botsync.meta SET version = version + 1');
    expect(await daemon.ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is of a newer version of botsync') as string,
    });
    expect(await hosts.holder(), 'it let go of it').toBeNull();
    expect(await web1.run('cluster', 'init')).toMatchObject({ code: 2 });
  });

  test('of an older version is kept under another name, and its files are adopted', async () => {
    const hosts = await createHosts(server);
    const web1 = hosts.host('web1');
    hosts.write('docs/a.md', 'first');
    expect((await web1.run('sync', '--once', '--json')).lines().at(-1)).toMatchObject({ uploaded: 1 });
    await hosts.sql('UPDATE botsync.meta SET version = version - 1');
    for (const args of [['sync'], ['sync', '--once'], ['cluster', 'status']])
      expect(await web1.run(...args), args.join(' ')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(
          'run: botsync cluster init (it keeps this ledger under another name',
        ) as string,
      });
    const [made] = (await web1.run('cluster', 'init', '--json')).lines();
    expect(made).toMatchObject({
      ledger: 'created',
      keptAs: expect.stringMatching(/^botsync_older_\d+$/u) as string,
    });
    expect(await hosts.sql(`SELECT state FROM ${String(made?.['keptAs'])}.file`)).toEqual([
      { state: 'synced' },
    ]);
    const next = await web1.run('sync', '--once', '--json');
    expect(next.lines().at(-1), next.stderr).toMatchObject({ uploaded: 0, adopted: 1 });
  });
});

describe('without a cluster', () => {
  test('its commands say what the configuration lacks', async () => {
    const hosts = await createHosts(server);
    const alone = hosts.host('alone', { config: { cluster: undefined } });
    for (const command of ['init', 'status', 'release']) {
      const { code, stderr } = await alone.run('cluster', command);
      expect(code).toBe(2);
      expect(stderr).toContain('has no "cluster" block');
    }
    const emulated = await hosts.host('web1').run('cluster', 'status', '--emulator');
    expect(emulated).toMatchObject({ code: 2, stderr: expect.stringContaining('--emulator') as string });
  });
});
