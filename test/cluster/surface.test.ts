import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SyncDaemon } from '../../src/library/botsync.ts';
import { NOBODY_LISTENS } from '../../src/service/systemd-notify.ts';
import { standingOf, type Known, type Running } from '../../src/sync/plan/standing.ts';
import { POLL } from '../cli/running-daemon.ts';
import { startBlackHole } from './black-hole.ts';
import { openHost, type HostHere } from './host-here.ts';
import { createHosts, type HostOptions, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** A host whose daemon runs in this process. */
interface Up extends HostHere {
  readonly daemon: SyncDaemon;
  readonly status: () => Promise<Known & { readonly daemon: Running & { readonly notReady: string[] } }>;
  /** Ends it. */
  readonly stop: () => Promise<void>;
  /** What the service manager was told: with `READY=1`, and of what it does since. */
  readonly ready: string[];
  readonly statuses: string[];
}

async function up(hosts: Hosts, name: string, options: HostOptions = {}): Promise<Up> {
  const host = openHost(hosts, name, options);
  const ready: string[] = [];
  const statuses: string[] = [];
  const daemon = await host.sync.start({
    serviceManager: {
      ...NOBODY_LISTENS,
      ready: (status) => ready.push(status),
      status: (text) => statuses.push(text),
    },
  });
  return {
    ...{ ...host, daemon, ready, statuses },
    stop: async () => {
      await host.sync[Symbol.asyncDispose]();
    },
    status: async () => JSON.parse(await host.ask('GET', '/status')) as Awaited<ReturnType<Up['status']>>,
  };
}

function isRate(share: unknown): boolean {
  return typeof share === 'number' && share > 0;
}

/** How many shipments of records the database has taken. */
const SHIPS = 'botsync_cluster_ship_duration_seconds_count';

const SHARE = 'botsync_cluster_share_requests_per_second';

/** What each of two hosts may send without the database: half of a fifth of the limit, requests a second. */
const FLOOR = 9;

/** Units that a host holds, has taken over and has lost, and whether the database answers it. */
function measured({ metric }: Up): Promise<number[]> {
  const names = ['units_held', 'takeovers_total', 'leases_lost_total', 'database_up'];
  return Promise.all(names.map((name) => metric(`botsync_cluster_${name}`)));
}

/** The exit code of `botsync status`, with the kinds of the troubles. */
async function standing(host: Up): Promise<string> {
  const { daemon, ...known } = await host.status();
  const { exitCode, troubles } = standingOf(known, daemon);
  return [exitCode, ...troubles.map(({ kind }) => kind)].join(' ');
}

describe('what hosts of a cluster answer', () => {
  test('the holder and the one on standby are both in sync, and each says who has what', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const one = await up(hosts, 'web1');
    await expect.poll(() => standing(one), POLL).toBe('0');
    const other = await up(hosts, 'web2');
    await expect.poll(() => standing(other), POLL).toBe('0');
    await expect
      .poll(async () => (await other.status()).sources[0], POLL)
      .toMatchObject({
        ...{ name: 'docs', files: 1, syncedBy: 'web1' },
      });
    expect((await one.status()).sources).toEqual([
      expect.not.objectContaining({ syncedBy: expect.anything() as unknown }),
    ]);
    const { cluster, daemon } = await other.status();
    expect(daemon.notReady).toEqual([]);
    expect(other.ready, 'no pass of its own begins').toEqual(['takes part in the cluster']);
    expect(cluster).toMatchObject({
      ...{ host: 'web2', trouble: null, held: [], blocked: {} },
      units: [
        { name: 'docs', sources: ['docs'], holderHost: 'web1', epoch: 1, pinned: null, isConfigured: true },
      ],
    });
    const both = [...(cluster?.hosts ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(both).toMatchObject([
      { name: 'web1', alive: true, isMe: false, sameConfig: true },
      { name: 'web2', alive: true, isMe: true, sameConfig: true },
    ]);

    // Each host's share of the budget, as it says itself.
    const shares = async (): Promise<(number | null)[]> =>
      ((await other.status()).cluster?.hosts ?? []).map(({ share }) => share);
    await expect
      .poll(shares, POLL)
      .toEqual([expect.toSatisfy(isRate) as number, expect.toSatisfy(isRate) as number]);

    // What leads nowhere is not passed on; a NUL is nothing that the database could take.
    for (const path of ['%00', 'a%00', '..%2Fx'])
      expect(await other.ask('POST', `/rescan?source=docs&path=${path}`)).toBe(
        '{"rescan":{"kind":"outside"},"trouble":null}\n',
      );
    // Whoever is asked passes it on to the host that syncs it.
    expect(await other.ask('POST', '/rescan?source=docs')).toBe(
      '{"rescan":{"kind":"passed-on","host":"web1"},"trouble":null}\n',
    );
    await expect.poll(() => one.log, POLL).toContain('another host asked for this: rescan docs');
    expect(await other.ask('POST', '/approve?source=docs')).toBe(
      '{"approved":[],"missing":[],"passedOn":[{"source":"docs","host":"web1"}],"failed":[],"trouble":null}\n',
    );
    await expect.poll(() => one.log, POLL).toContain('another host asked for this: approve docs');

    // What nobody can have wished is deleted, which is said, and all goes on.
    await hosts.sql(`INSERT INTO botsync.wish (unit, kind, body) SELECT id, kind, body::json FROM botsync.unit,
      (VALUES ('approve', 'null'), ('rescan', '{"source":5}'), ('dance', '{}')) AS nonsense (kind, body)`);
    await expect.poll(() => hosts.sql('SELECT * FROM botsync.wish'), POLL).toEqual([]);
    const unread = 'what is wished of docs in the ledger cannot be read, and was deleted';
    expect(one.log.filter((line) => line === unread)).toHaveLength(3);
    expect(one.log.filter((line) => line.startsWith('another host asked'))).toHaveLength(2);
    expect(await standing(one)).toBe('0');
  });

  test('metrics say what a host holds, took and lost, and how it fares with the database', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const way = await startBlackHole('127.0.0.1', server.port);
    onTestFinished(() => way.close());
    const databaseUrl = way.lead(server.url(hosts.database));
    // A process of this host is killed: what the next one goes on with it took from nobody.
    const killed = hosts.host('web1').launch();
    await expect.poll(() => hosts.emulator.readContent('bot-1', 'a.md'), POLL).not.toBeNull();
    killed.child.kill('SIGKILL');
    await killed.ended;
    const one = await up(hosts, 'web1', { databaseUrl });
    await expect.poll(() => measured(one), POLL).toEqual([1, 0, 0, 1]);
    const other = await up(hosts, 'web2');
    await expect.poll(() => measured(other), POLL).toEqual([0, 0, 0, 1]);
    expect(await other.metric(SHIPS)).toBe(0);
    hosts.write('docs/b.md', 'second');
    await expect.poll(() => one.metric(SHIPS), POLL).toBeGreaterThan(1);
    for (const host of [one, other]) await expect.poll(() => host.metric(SHARE), POLL).toBeGreaterThan(0);
    for (let i = 0; i < 400; i += 1) hosts.write(`docs/many/f${i}.md`, `${i}`);
    await expect.poll(() => one.metric(SHARE), POLL).toBeGreaterThan(2 * FLOOR);

    await way.blackHole();
    await expect.poll(() => measured(other), POLL).toEqual([1, 1, 0, 1]);
    await expect.poll(() => measured(one), POLL).toEqual([0, 0, 1, 0]);
    await expect.poll(() => one.metric(SHARE), POLL).toBe(FLOOR);
    hosts.write('docs/c.md', 'third');
    await expect.poll(() => other.metric(SHIPS), POLL).toBeGreaterThan(1);
    await way.heal();
    await expect.poll(() => measured(one), POLL).toEqual([0, 0, 1, 1]);

    // What is let go of is neither lost nor taken over.
    await hosts.sql(
      `INSERT INTO botsync.wish (unit, kind, body) SELECT id, 'release', '{}' FROM botsync.unit`,
    );
    await expect.poll(() => measured(one), POLL).toEqual([1, 0, 1, 1]);
    expect(await measured(other)).toEqual([0, 1, 0, 1]);
  });

  test('a host whose credentials the platform refuses is named by the others', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    await up(hosts, 'web1', { env: { BOTSYNC_TOKEN: 'bp_pat_wrong' } });
    await expect.poll(() => hosts.holder(), POLL).toBe('web1');
    const other = await up(hosts, 'web2');
    await expect.poll(() => standing(other), POLL).toBe('3 elsewhere');
    const reason = async (): Promise<unknown> => {
      const { daemon, ...known } = await other.status();
      return standingOf(known, daemon).troubles;
    };
    await expect
      .poll(reason, POLL)
      .toMatchObject([
        { source: 'docs', host: 'web1', files: 1, refusal: expect.stringContaining('401') as string },
      ]);
    expect((await other.status()).daemon.notReady, 'it is the matter of the other one').toEqual([]);
  });

  test('a host that cannot take part yet has started all the same, is not ready, and says why', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const docs = { name: 'docs', directory: join(hosts.share, 'docs'), keyPrefix: 'docs/' };
    const one = await up(hosts, 'web1', { config: { sources: [docs] } });
    await expect.poll(() => standing(one), POLL).toBe('0');
    // The name is the first one's as long as that lives; nobody listens at the other address.
    const own = join(hosts.share, '..', 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'b.md'), 'of the second one');
    const sources = [docs, { name: 'own', directory: own, keyPrefix: 'own/', host: 'web1' }];
    const named = await up(hosts, 'also-web1', { cluster: { host: 'web1' }, config: { sources } });
    const cut = await up(hosts, 'web3', { databaseUrl: 'postgresql://postgres@127.0.0.1:9/x' });
    const taken = 'another host of the cluster is named "web1"; set cluster.host on one of them';
    for (const [host, reason] of [
      [named, taken],
      [cut, 'the database of the cluster cannot be reached: connect ECONNREFUSED 127.0.0.1:9'],
    ] as const) {
      await expect.poll(() => host.ready, POLL).toEqual([`waits: ${reason}`]);
      expect(await standing(host)).toBe('3 cluster');
      expect((await host.status()).daemon.notReady).toEqual([reason]);
      expect(host.statuses).toEqual([]);
    }
    // The database answers who only waits for its name; without a share nothing may be sent.
    expect(await measured(named)).toEqual([0, 0, 0, 1]);
    expect(await measured(cut)).toEqual([0, 0, 0, 0]);
    expect(await cut.metric(SHARE)).toBe(0);
    expect(named.log).toContainEqual(expect.stringContaining('botsync waits until it is silent'));
    expect(cut.log).toContainEqual(expect.stringContaining('ECONNREFUSED 127.0.0.1:9; botsync retries'));

    expect(hosts.emulator.listFiles('bot-1').map(({ key }) => key)).toEqual(['docs/a.md']);
    await one.stop();
    await expect.poll(() => standing(named), POLL).toBe('0');
    expect(hosts.emulator.listFiles('bot-1')).toHaveLength(2);
    expect(named.statuses).toEqual(['takes part in the cluster']);
    expect(named.ready[1], 'it syncs by itself now').toBe('full pass running');
  });

  test('who asks for something is passed on to whoever has the source now, not to who had it at the last beat', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    // Beats are so far apart that this host does not hear of the other one by itself.
    const lease = '120s';
    const other = await up(hosts, 'web2', { cluster: { weight: 0, lease } });
    await expect.poll(() => standing(other), POLL).toBe('3 free-unit');
    expect((await other.run('status')).stdout).toContain(
      'the hosts that see its directories have the weight 0',
    );
    const one = await up(hosts, 'web1', { cluster: { lease } });
    await expect.poll(() => standing(one), POLL).toBe('0');
    expect(await other.ask('POST', '/approve?source=docs')).toContain(
      '"passedOn":[{"source":"docs","host":"web1"}],"failed":[]',
    );
    await expect.poll(() => one.log, POLL).toContain('another host asked for this: approve docs');
    await one.stop();
    const nobody = await other.ask('POST', '/rescan?source=docs');
    expect(nobody).toContain('{"kind":"not-passed-on","reason":"no host syncs it"}');
  });

  test('a unit that nobody takes, since no host sees its directories: it is told why, and taken once one does', async () => {
    const hosts = await createHosts(server);
    rmSync(join(hosts.share, 'docs'), { recursive: true });
    const one = await up(hosts, 'web1');
    await expect.poll(() => standing(one), POLL).toBe('3 free-unit');
    const why = 'no host that is up sees its directories, or one has just released it';
    expect((await one.run('status')).stdout).toContain(`docs is synced by no host: ${why}`);
    expect(await one.run('cluster', 'status')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining(`docs is held by no host that was heard of: ${why}.`) as string,
    });
    const json = (await one.run('cluster', 'status', '--json')).lines();
    expect(json).toMatchObject([{ units: [{ name: 'docs', whyUntaken: 'unseen' }], unheld: ['docs'] }]);
    hosts.write('docs/a.md', 'first');
    await expect.poll(() => standing(one), POLL).toBe('0');
    // The ledger tells of what this host took with the next beat.
    await expect
      .poll(async () => (await one.status()).cluster?.units, POLL)
      .toMatchObject([{ name: 'docs', whyUntaken: null }]);
  });

  test('a source that is halted on the host that it is pinned to does not count as synced', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    hosts.write('branch-2/a.md', 'second');
    const branch = (name: string, directory: string): HostOptions => ({
      cluster: { weight: 0 },
      config: { sources: [{ name, directory: join(hosts.share, directory), keyPrefix: 'x/', host: name }] },
    });
    const way = await startBlackHole('127.0.0.1', server.port);
    onTestFinished(() => way.close());
    const databaseUrl = way.lead(server.url(hosts.database));
    const one = await up(hosts, 'branch-1', { ...branch('branch-1', 'docs'), databaseUrl });
    await expect.poll(() => standing(one), POLL).toBe('0');
    const other = await up(hosts, 'branch-2', branch('branch-2', 'branch-2'));
    await expect.poll(() => standing(other), POLL).toBe('5 blocked-unit');
    const halted = async (host: Up): Promise<unknown> =>
      (await host.status()).cluster?.units.map(({ sources, isHalted }) => [...sources, isHalted]);
    for (const host of [one, other])
      await expect
        .poll(() => halted(host), POLL)
        .toEqual([
          ['branch-1', false],
          ['branch-2', true],
        ]);
    expect((await one.run('status')).stdout).toContain(
      '  branch-2 has halted branch-2, whose keys may be those of another unit',
    );
    expect(await other.run('cluster', 'forget', 'branch-1')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the host "branch-1" is alive; stop botsync there') as string,
    });

    // Who is only cut off from the database goes on.
    await way.blackHole();
    const seen = async (): Promise<readonly [boolean | undefined, string]> => {
      const { cluster } = await other.status();
      return [cluster?.hosts.find(({ name }) => name === 'branch-1')?.alive, await standing(other)];
    };
    await expect.poll(async () => (await seen())[0], POLL).toBe(false);
    expect(await seen()).toEqual([false, '5 blocked-unit']);
    expect((await other.run('status')).stdout).toContain(
      'if branch-1 is gone for good, run: botsync cluster forget branch-1',
    );

    expect(await other.run('cluster', 'forget', 'branch-3')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'host not found: "branch-3"; the ledger has: branch-1, branch-2',
      ) as string,
    });
    expect(await other.run('cluster', 'forget', 'branch-1')).toMatchObject({
      code: 0,
      stdout: 'branch-1 was removed from the list of hosts\n',
    });
    await expect.poll(() => standing(other), POLL).toBe('0');
    await expect.poll(() => hosts.content('x/a.md'), POLL).toBe('second');

    // The other one was not gone.
    await way.heal();
    await expect.poll(seen, POLL).toEqual([true, '5 blocked-unit']);
    // What it has on record of these keys is true no more, which only a comparison tells.
    await expect.poll(() => standing(one), POLL).toBe('3 files');
    expect((await one.run('status')).stdout).toContain('somebody else put another file in its place');
    expect(await other.run('cluster', 'status')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(
        /branch-2 \(pinned, halted\)[^]*branch-2@branch-2 is halted: /u,
      ) as string,
    });
  });

  test('a source that is pinned to a silent host is missed by all that have it, until that host is forgotten', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const source = (name: string): object => ({
      ...{ name, directory: join(hosts.share, 'docs') },
      ...{ keyPrefix: `${name}/`, host: name },
    });
    const options: HostOptions = {
      cluster: { weight: 0 },
      config: { sources: [source('branch-1'), source('branch-2')] },
    };
    const way = await startBlackHole('127.0.0.1', server.port);
    onTestFinished(() => way.close());
    await up(hosts, 'branch-1', { ...options, databaseUrl: way.lead(server.url(hosts.database)) });
    const other = await up(hosts, 'branch-2', options);
    await expect.poll(() => standing(other), POLL).toBe('0');
    expect(await other.run('approve', 'branch-1')).toMatchObject({ code: 0 });

    await way.blackHole();
    await expect.poll(() => standing(other), POLL).toBe('3 free-unit');
    expect((await other.run('status')).stdout).toContain(
      'branch-1@branch-1 is synced by no host: branch-1, which had it, is silent',
    );
    expect(await other.run('cluster', 'status')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(
        /\(pinned, silent\)[^]*branch-1@branch-1 is pinned to branch-1, which was not heard of: /u,
      ) as string,
    });
    expect(await other.run('approve', 'branch-1')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('Not approved: branch-1, as no host syncs it.') as string,
    });
    expect((await other.status()).daemon.notReady, 'it does its own part').toEqual([]);

    expect((await other.run('cluster', 'forget', 'branch-1')).code).toBe(0);
    await expect.poll(() => standing(other), POLL).toBe('0');
    const after = await other.run('cluster', 'status');
    expect(after.code).toBe(0);
    expect(after.stdout).not.toContain('branch-1');
  });
});
