// Several hosts on one ledger: how soon another goes on when one is killed, stopped or cut off from the database, how soon a unit
// moves, and what the ledger takes. PostgreSQL on the same machine, without fsync.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bundled } from './bundled.js';
import { botsync, makeTree, readTally, row, setConditions, withScratch, withServer } from './measure.js';

const LEASE_SECONDS = 3;
const FILES = 10_000;
const MANY_FILES = 100_000;
const RATE = 100;
const HOSTS = ['web1', 'web2'];

const load = async (path) => import(await bundled(new URL(path, import.meta.url)));

/** The first request of the other host after a fault of the one that holds the unit, and how soon it moves when asked to. */
export async function clusterTakeover() {
  return withScratch((directory) =>
    withDatabase(directory, (server) =>
      withServer(async (baseUrl) => {
        await setConditions(baseUrl, {});
        makeTree(directory, FILES, (n) => `article ${n}`);
        const { startBlackHole } = await load('../test/cluster/black-hole.ts');
        const ways = await Promise.all(HOSTS.map(() => startBlackHole('127.0.0.1', server.port)));
        const hosts = HOSTS.map((name, n) => hostOf(directory, name, baseUrl, ways[n].lead(server.url())));
        const cluster = { directory, server, baseUrl, hosts, ways, number: 0 };
        try {
          for (const host of hosts) host.launch();
          await until(async () => (await uploads(baseUrl)) >= FILES, 300);
          const seconds = {};
          seconds.killed = await takeover(cluster, (host) => host.child.kill('SIGKILL'));
          seconds.stopped = await takeover(cluster, (host) => host.child.kill('SIGSTOP'));
          seconds.cut = await takeover(cluster, (_, way) => way.blackHole());
          seconds.moved = await takeover(cluster, (host) => host.run('cluster', 'release'));
          const bound = LEASE_SECONDS + LEASE_SECONDS / 4 + 1.5;
          return {
            name: `a unit of ${FILES} files goes to another host, lease ${LEASE_SECONDS} s`,
            figures: {},
            rows: [
              row('killed', seconds.killed, '<=', bound, 's'),
              row('stopped', seconds.stopped, '<=', bound, 's'),
              row('cut off from the database', seconds.cut, '<=', bound, 's'),
              row('released', seconds.moved, '<=', 2, 's'),
            ],
          };
        } finally {
          for (const host of hosts) host.child?.kill('SIGKILL');
          for (const way of ways) await way.close();
        }
      }),
    ),
  );
}

/** What the ledger takes of hosts that do nothing else. */
export async function clusterLedger() {
  return withScratch((directory) =>
    withDatabase(directory, async (server) => {
      const ledger = await load('./contenders/ledger-load.js');
      const taken = await ledger.intentMilliseconds(server.url(), 4, RATE, 20);
      const at = (part) => taken[Math.floor(taken.length * part)];
      const perSecond = await ledger.intentsPerSecond(server.url(), 50_000, 1000);
      const seconds = await ledger.loadSeconds(server.url(), MANY_FILES);
      return {
        name: 'the ledger of a cluster',
        figures: { 'median intent until it is durable, ms': at(0.5) },
        rows: [
          row(`99 of 100 intents at ${RATE} files/s of 4 hosts`, at(0.99), '<=', 10, 'ms'),
          row('intents of one host', perSecond, '>=', 5000, '/s'),
          row(`${MANY_FILES} files loaded`, seconds, '<=', 2, 's'),
        ],
      };
    }),
  );
}

/** Seconds from a fault of the host that holds the unit to the first request of the other; both hosts are well again then. */
async function takeover(cluster, fault) {
  const { directory, server, baseUrl, hosts, ways } = cluster;
  const [{ holder_host: name }] = await untilValue(() =>
    server.query('SELECT holder_host FROM botsync.unit WHERE holder IS NOT NULL'),
  );
  const at = HOSTS.indexOf(name);
  const other = hosts[1 - at];
  const before = await requests(baseUrl, other);
  const began = performance.now();
  const done = fault(hosts[at], ways[at]);
  cluster.number += 1;
  writeFileSync(join(directory, 'docs', `after-${cluster.number}.md`), `after ${cluster.number}`);
  await until(async () => (await requests(baseUrl, other)) > before, 30);
  const seconds = (performance.now() - began) / 1000;
  await done;
  hosts[at].child.kill('SIGCONT');
  await ways[at].heal();
  if (hosts[at].child.signalCode !== null) hosts[at].launch();
  // It takes part again, and what it left is over, before the next fault.
  await delay(LEASE_SECONDS * 1000 * 2);
  return seconds;
}

function hostOf(directory, name, baseUrl, databaseUrl) {
  const own = join(directory, name);
  mkdirSync(own);
  const config = {
    platform: { baseUrl, botId: 'bench', token: 'env:BOTSYNC_TOKEN', operations: 'specified' },
    sources: [{ name: 'docs', directory: join(directory, 'docs') }],
    cluster: {
      database: 'env:BOTSYNC_DATABASE',
      host: name,
      lease: `${LEASE_SECONDS}s`,
    },
    stateFile: join(own, 'state.db'),
  };
  writeFileSync(join(own, 'botsync.config.json'), JSON.stringify(config));
  const env = { ...process.env, BOTSYNC_TOKEN: `bench-${name}`, BOTSYNC_DATABASE: databaseUrl };
  const begin = (...args) => spawn(process.execPath, [botsync, ...args], { cwd: own, env, stdio: 'ignore' });
  const host = {
    name,
    child: null,
    launch: () => {
      host.child = begin('sync');
    },
    run: (...args) => new Promise((resolve) => begin(...args).once('close', resolve)),
  };
  return host;
}

/** Runs something with a PostgreSQL server that has an empty ledger. */
export async function withDatabase(directory, action) {
  // The server is another user's, and its programs are copied there.
  chmodSync(directory, 0o755);
  process.env.BOTSYNC_TEST_RUN = directory;
  const [{ startPostgres }, { emptyLedger }] = await Promise.all(
    ['../test/cluster/postgres.ts', './contenders/ledger-load.js'].map(load),
  );
  const server = await startPostgres();
  try {
    await server.query(emptyLedger.join(';'));
    return await action(server);
  } finally {
    // Nothing else would keep this process alive until the server has ended.
    const alive = setInterval(() => undefined, 1000);
    await server.close();
    clearInterval(alive);
  }
}

const requests = async (baseUrl, { name }) => (await readTally(baseUrl)).clients[name]?.admitted.length ?? 0;

async function uploads(baseUrl) {
  return (await readTally(baseUrl)).uploads.completed;
}

async function untilValue(look) {
  let rows = [];
  await until(async () => (rows = await look()).length > 0, 30);
  return rows;
}

async function until(isSo, mostSeconds) {
  const deadline = performance.now() + mostSeconds * 1000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${mostSeconds} s`);
    await delay(10);
  }
}
