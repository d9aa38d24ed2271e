import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';
import { ClusterDatabase } from '../../src/cluster/postgres/database.ts';
import { HostMessages } from '../../src/cluster/postgres/messages.ts';
import type { SyncDaemon } from '../../src/run/botsync.ts';
import { POLL } from '../cli/running-daemon.ts';
import { openHost, type HostHere } from './host-here.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** A host whose daemon runs in this process. */
interface Up extends HostHere {
  readonly daemon: SyncDaemon;
}

/**
 * Both hosts have the directory `box` in their source, but to one it is a link: what is written below it is an event for the other
 * alone, as on a share that two machines have mounted. Nothing is found by polling within the time of a test.
 */
function sharing(directory: string, poll: boolean): Record<string, unknown> {
  return {
    sources: [{ name: 'docs', directory, symlinks: 'follow' }],
    watch: { settle: '50ms', poll, pollInterval: '1d', rescan: '1d' },
    removals: { mode: 'delete', delay: '1ms' },
  };
}

async function up(hosts: Hosts, name: string, config: Record<string, unknown>, cluster = {}): Promise<Up> {
  const host = openHost(hosts, name, { config, cluster });
  return { ...host, daemon: await host.sync.start() };
}

/** Whether this process has an inotify watch on a directory. */
function isWatched(directory: string): boolean {
  const inode = `ino:${statSync(directory).ino.toString(16)} `;
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      if (readlinkSync(`/proc/self/fd/${fd}`) !== 'anon_inode:inotify') return false;
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').includes(inode);
    } catch {
      return false;
    }
  });
}

/** Connections on which somebody of a database listens. */
const LISTENING = `SELECT pid FROM pg_stat_activity WHERE query ~ '^(UN)?LISTEN' AND datname = current_database()`;

/** Two hosts of one share, of which the first holds the source. */
interface Pair {
  readonly hosts: Hosts;
  readonly holder: Up;
  readonly other: Up;
  /** The directories of their sources. */
  readonly here: string;
  readonly there: string;
  /** Writes a file below `box` on the other host. */
  readonly written: (name: string, content: string) => void;
}

async function pairThat(way: 'polls' | 'watches'): Promise<Pair> {
  const hosts = await createHosts(server);
  const [there, here] = [join(hosts.share, 'there'), join(hosts.share, 'docs')];
  mkdirSync(join(there, 'box', 'deep'), { recursive: true });
  symlinkSync(join(there, 'box'), join(here, 'box'));
  const written = (name: string, content: string): void => {
    writeFileSync(join(there, 'box', name), content);
  };
  written('a.md', 'one');
  written('b.md', 'one');
  const holder = await up(hosts, 'web1', sharing(here, way === 'polls'));
  await expect.poll(() => hosts.content('box/b.md'), POLL).toBe('one');
  const other = await up(hosts, 'web2', sharing(there, way === 'polls'));
  await expect.poll(() => isWatched(join(there, 'box', 'deep')), POLL).toBe(true);
  await expect.poll(() => isWatched(here), POLL).toBe(true);
  return { hosts, holder, other, here, there, written };
}

describe('of two hosts of one share', () => {
  test('the holder that polls is told at once what the other one writes', async () => {
    const { hosts, holder, other, there, written } = await pairThat('polls');
    await expect.poll(async () => (await server.query(LISTENING, hosts.database)).length, POLL).toBe(2);

    written('a.md', 'two');
    await expect.poll(() => hosts.content('box/a.md'), POLL).toBe('two');
    written('ignored.tmp', 'no');
    written('new.md', 'new');
    rmSync(join(there, 'box', 'b.md'));
    await expect.poll(() => hosts.content('box/new.md'), POLL).toBe('new');
    await expect.poll(() => hosts.content('box/b.md'), POLL).toBeNull();
    await expect.poll(() => other.metric('botsync_cluster_hints_sent_total'), POLL).toBe(3);
    expect(await holder.metric('botsync_cluster_hints_received_total')).toBe(3);
    expect(await holder.metric('botsync_cluster_hints_sent_total')).toBe(0);

    // What the holder writes itself it needs nobody for.
    hosts.write('docs/own.md', 'own');
    await expect.poll(() => hosts.content('own.md'), POLL).toBe('own');
    expect(await other.metric('botsync_cluster_hints_received_total')).toBe(0);

    // A name that cannot be told: its directory is looked at.
    writeFileSync(Buffer.concat([Buffer.from(`${there}/box/deep/`), Buffer.from([0xff])]), 'no UTF-8');
    await expect
      .poll(async () => await holder.daemon.status(), POLL)
      .toMatchObject({ sources: [{ problems: 1 }] });

    // A directory in the place of the one that was watched is followed as well.
    renameSync(there, `${there}.old`);
    mkdirSync(there);
    renameSync(join(`${there}.old`, 'box'), join(there, 'box'));
    await expect.poll(() => isWatched(there), POLL).toBe(true);
    await expect.poll(() => isWatched(join(there, 'box')), POLL).toBe(true);
    written('c.md', 'three');
    await expect.poll(() => hosts.content('box/c.md'), POLL).toBe('three');
  });

  test('the holder that watches is told as well, and of what it writes itself its own watch tells', async () => {
    const { hosts, holder, other, here, written } = await pairThat('watches');
    written('a.md', 'two');
    await expect.poll(() => hosts.content('box/a.md'), POLL).toBe('two');
    writeFileSync(join(here, 'own.md'), 'own');
    await expect.poll(() => hosts.content('own.md'), POLL).toBe('own');
    expect(await holder.metric('botsync_cluster_hints_received_total')).toBe(1);
    expect(await other.metric('botsync_cluster_hints_received_total')).toBe(0);
  });
});

describe('a database', () => {
  async function open(): Promise<ClusterDatabase> {
    const connection = connectionOf(server.url(await server.createDatabase()), 'test');
    if (connection.kind !== 'ok') throw new Error(connection.message);
    const settings = { connection: connection.config, patienceMs: 10_000, connections: 2 };
    const database = new ClusterDatabase(settings);
    onTestFinished(() => database.close());
    return database;
  }

  test('is listened to over one connection, whatever the number of channels, which is made again', async () => {
    const database = await open();
    const told: string[] = [];
    const stops = ['one', 'two', 'two'].map((channel, index) => {
      const stop = new AbortController();
      const ended = database.listen(
        channel,
        (payload) => told.push(`${index} ${payload}`),
        () => Promise.resolve(),
        stop.signal,
      );
      return { stop, ended };
    });
    const connections = async (): Promise<number> => (await database.sql(LISTENING)).length;
    /** Notifies until somebody was told: whoever listens does so a little later. */
    const heard = async (channel: string, payload: string): Promise<string[]> => {
      await expect
        .poll(async () => {
          await database.sql('SELECT pg_notify($1, $2)', [channel, payload]);
          return told.filter((one) => one.endsWith(payload)).length;
        }, POLL)
        .toBeGreaterThan(0);
      return [...new Set(told)].filter((one) => one.endsWith(payload)).sort();
    };
    expect(await heard('one', 'a')).toEqual(['0 a']);
    expect(await heard('two', 'b')).toEqual(['1 b', '2 b']);
    expect(await connections()).toBe(1);
    const later = new AbortController();
    const hearing = database.listen(
      'three',
      (payload) => told.push(`3 ${payload}`),
      () => Promise.resolve(),
      later.signal,
    );
    expect(await heard('three', 'x'), 'while the connection stands').toEqual(['3 x']);
    later.abort();
    await hearing;
    expect(await connections()).toBe(1);
    await database.sql(`SELECT pg_terminate_backend(pid) FROM (${LISTENING}) AS listening`);
    expect(await heard('two', 'c')).toEqual(['1 c', '2 c']);
    stops[1]?.stop.abort();
    await stops[1]?.ended;
    expect(await heard('two', 'd'), 'the other one still listens').toEqual(['2 d']);
    stops[2]?.stop.abort();
    await stops[2]?.ended;
    expect(await heard('one', 'e')).toEqual(['0 e']);
    stops[0]?.stop.abort();
    await stops[0]?.ended;
    await expect.poll(connections, POLL).toBe(0);
    const again = new AbortController();
    const listening = database.listen(
      'one',
      (payload) => told.push(payload),
      () => Promise.resolve(),
      again.signal,
    );
    expect(await heard('one', 'f')).toEqual(['f']);
    again.abort();
    await listening;
  });

  test('takes hints as long as they are made', async () => {
    const database = await open();
    const messages = ['x'.repeat(7999), '{"é"}'];
    const told = new Set<string>();
    const stop = new AbortController();
    const messagesOfHosts = new HostMessages(database, 'botsync');
    const listening = messagesOfHosts.onHints(
      (payload) => told.add(payload),
      () => Promise.resolve(),
      stop.signal,
    );
    await expect
      .poll(async () => {
        await messagesOfHosts.sendHints(messages);
        return [...told];
      }, POLL)
      .toEqual(messages);
    stop.abort();
    await listening;
  });
});
