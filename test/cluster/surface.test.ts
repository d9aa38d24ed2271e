import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSync, type SyncDaemon } from '../../src/run/botsync.ts';
import { NOBODY_LISTENS } from '../../src/service/systemd-notify.ts';
import { standingOf } from '../../src/sync/plan/standing.ts';
import { type Known, type Running } from '../../src/domain/status.ts';
import { POLL } from '../cli/running-daemon.ts';
import { startBlackHole } from './black-hole.ts';
import { launchHere, openHost, type HostHere } from './host-here.ts';
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

/** How many shipments of records the database has taken. */
const SHIPS = 'botsync_cluster_ship_duration_seconds_count';

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
      units: [{ name: 'docs', sources: ['docs'], holderHost: 'web1', epoch: 1, isConfigured: true }],
    });
    const both = [...(cluster?.hosts ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(both).toMatchObject([
      { name: 'web1', alive: true, isMe: false, hindrances: [] },
      { name: 'web2', alive: true, isMe: true, hindrances: [] },
    ]);

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
    expect(await other.ask('POST', '/approve?source=docs&halt=1a')).toBe(
      '{"approved":[],"missing":[],"changed":[],"passedOn":[{"source":"docs","host":"web1"}],"trouble":null}\n',
    );
    await expect.poll(() => one.log, POLL).toContain('another host asked for this: approve docs');

    // What nobody can have wished is deleted, which is said, and all goes on.
    await hosts.sql(`INSERT INTO botsync.wish (unit, kind, body) SELECT id, kind, body::json FROM botsync.unit,
      (VALUES ('approve', 'null'), ('rescan', '{"source":5}'), ('dance', '{}')) AS nonsense (kind, body)`);
    await expect.poll(() => hosts.sql('SELECT * FROM botsync.wish'), POLL).toEqual([]);
    const unread = 'a command for docs in the ledger cannot be read, and was deleted';
    expect(one.log.filter((line) => line === unread)).toHaveLength(3);
    expect(one.log.filter((line) => line.startsWith('another host asked'))).toHaveLength(2);
    expect(await standing(one)).toBe('0');
  });

  test('the list of files has those that the host syncs, and says so', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const listed = async (name: string): Promise<() => Promise<string>> => {
      const host = hosts.host(name, { config: { service: { listen: '127.0.0.1:0' } } });
      let address = '';
      const note = (message: string, fields: object = {}): void => {
        if (message === 'listening' && 'address' in fields) address = String(fields.address);
      };
      const sync = openSync({
        config: join(host.directory, 'botsync.json'),
        env: host.env,
        log: { debug: note, info: note, warn: note, error: note },
      });
      onTestFinished(() => sync[Symbol.asyncDispose]());
      await sync.start();
      await expect.poll(() => address, POLL).not.toBe('');
      return async () => await (await fetch(`http://${address}/files`)).text();
    };
    const holder = await listed('web1');
    await expect.poll(holder, POLL).toMatch(/syncs now:\s*<bdi>docs<\/bdi>[^]*>docs\/a\.md</u);
    const standby = await listed('web2');
    await expect.poll(standby, POLL).toMatch(/syncs now:\s*none\.[^]*No file is/u);
    expect(await standby()).not.toContain('a.md');
  });

  test('metrics say what a host holds, took and lost, and how it fares with the database', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const way = await startBlackHole('127.0.0.1', server.port);
    onTestFinished(() => way.close());
    const databaseUrl = way.lead(server.url(hosts.database));
    // A process of this host is killed: what the next one goes on with it took from nobody.
    const killed = await launchHere(hosts, 'web1');
    await expect.poll(() => hosts.emulator.readContent('bot-1', 'a.md'), POLL).not.toBeNull();
    await killed.kill();
    const one = await up(hosts, 'web1', { databaseUrl });
    await expect.poll(() => measured(one), POLL).toEqual([1, 0, 0, 1]);
    const other = await up(hosts, 'web2');
    await expect.poll(() => measured(other), POLL).toEqual([0, 0, 0, 1]);
    expect(await other.metric(SHIPS)).toBe(0);
    hosts.write('docs/b.md', 'second');
    await expect.poll(() => one.metric(SHIPS), POLL).toBeGreaterThan(1);

    await way.blackHole();
    await expect.poll(() => measured(other), POLL).toEqual([1, 1, 0, 1]);
    await expect.poll(() => measured(one), POLL).toEqual([0, 0, 1, 0]);
    hosts.write('docs/c.md', 'third');
    await expect.poll(() => other.metric(SHIPS), POLL).toBeGreaterThan(1);
    await way.heal();
    await expect.poll(() => measured(one), POLL).toEqual([0, 0, 1, 1]);

    // What is let go of is neither lost nor taken over.
    await hosts.sql(
      `INSERT INTO botsync.wish (unit, kind, body) SELECT id, 'release', json_build_object('epoch', epoch) FROM botsync.unit`,
    );
    await expect.poll(() => measured(one), POLL).toEqual([1, 0, 1, 1]);
    await expect.poll(() => measured(other), POLL).toEqual([0, 1, 0, 1]);
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
    const sources = [docs, { name: 'own', directory: own, keyPrefix: 'own/' }];
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
    // The database answers who only waits for its name.
    expect(await measured(named)).toEqual([0, 0, 0, 1]);
    expect(await measured(cut)).toEqual([0, 0, 0, 0]);
    expect(named.log).toContainEqual(expect.stringContaining('botsync waits until it is silent'));
    expect(cut.log).toContainEqual(expect.stringContaining('ECONNREFUSED 127.0.0.1:9; botsync retries'));

    expect(hosts.emulator.listFiles('bot-1').map(({ key }) => key)).toEqual(['docs/a.md']);
    await one.stop();
    await expect.poll(() => standing(named), POLL).toBe('0');
    expect(hosts.emulator.listFiles('bot-1')).toHaveLength(2);
    expect(named.statuses).toEqual(['takes part in the cluster']);
    expect(named.ready[1], 'it syncs by itself now').toBe('full pass running');
  });

  test('a unit whose directories no host sees is halted by one, and synced once they are back', async () => {
    const hosts = await createHosts(server);
    rmSync(join(hosts.share, 'docs'), { recursive: true });
    const one = await up(hosts, 'web1');
    await expect.poll(() => standing(one), POLL).toBe('5 halted');
    const why = `does not see docs: ${join(hosts.share, 'docs')} does not exist`;
    expect((await one.run('status')).stdout).toContain(`this host, web1, syncs docs and ${why}`);
    expect(await one.run('cluster', 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`web1 ${why}`) as string,
    });
    hosts.write('docs/a.md', 'first');
    await expect.poll(() => standing(one), POLL).toBe('0');
  });
});
