import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openSync, type SyncDaemon } from '../../src/library/botsync.ts';
import { askDaemon } from '../../src/service/ask-daemon.ts';
import { NOBODY_LISTENS } from '../../src/service/systemd-notify.ts';
import { standingOf, type Known, type Running } from '../../src/sync/plan/standing.ts';
import { POLL } from '../cli/running-daemon.ts';
import { createHosts, type Host, type HostOptions, type Hosts } from './hosts.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.close();
});

/** A host whose daemon runs in this process. */
interface Up extends Host {
  readonly daemon: SyncDaemon;
  /** What its socket answers. */
  readonly ask: (method: string, target: string) => Promise<string>;
  readonly status: () => Promise<Known & { readonly daemon: Running & { readonly notReady: string[] } }>;
  readonly log: string[];
  /** What the service manager was told. */
  readonly ready: string[];
}

async function up(hosts: Hosts, name: string, options: HostOptions = {}): Promise<Up> {
  const host = hosts.host(name, options);
  const log: string[] = [];
  const note = (message: string): void => {
    log.push(message);
  };
  const sync = openSync({
    config: join(host.directory, 'botsync.json'),
    env: host.env,
    log: { debug: note, info: note, warn: note, error: note },
  });
  const ready: string[] = [];
  const daemon = await sync.start({
    serviceManager: { ...NOBODY_LISTENS, ready: (status) => ready.push(status) },
  });
  onTestFinished(() => sync[Symbol.asyncDispose]());
  const ask = async (method: string, target: string): Promise<string> => {
    const answer = await askDaemon(
      join(host.directory, 'state.db'),
      method as 'GET',
      target,
      AbortSignal.timeout(9000),
    );
    if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer));
    return answer.body;
  };
  return {
    ...{ ...host, daemon, ask, log, ready },
    status: async () => JSON.parse(await ask('GET', '/status')) as Awaited<ReturnType<Up['status']>>,
  };
}

function isRate(share: unknown): boolean {
  return typeof share === 'number' && share > 0;
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

    // Whoever is asked passes it on to the host that syncs it.
    expect(await other.ask('POST', '/rescan?source=docs')).toBe(
      '{"rescan":{"kind":"passed-on","host":"web1"},"trouble":null}\n',
    );
    await expect.poll(() => one.log, POLL).toContain('another host asked for this: rescan docs');
    expect(await other.ask('POST', '/approve?source=docs')).toBe(
      '{"approved":[],"missing":[],"passedOn":[{"source":"docs","host":"web1"}],"failed":[],"trouble":null}\n',
    );
    await expect.poll(() => one.log, POLL).toContain('another host asked for this: approve docs');

    const metrics = await one.ask('GET', '/metrics');
    expect(metrics).toContain('botsync_cluster_units_held 1\n');
    expect(metrics).toContain('botsync_cluster_database_up 1\n');
    expect(metrics).toMatch(/botsync_cluster_ship_duration_seconds_count [1-9]/u);
    expect(await other.ask('GET', '/metrics')).toContain('botsync_cluster_units_held 0\n');
  });
});
