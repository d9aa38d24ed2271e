// One of several hosts that upload small files as fast as they may, until it is ended. Arguments: base URL, its name, and the
// address of a database with the tables of budgets; without it, it goes by the headers of answers.
import { setMaxListeners } from 'node:events';
import { Budget } from '../../src/cluster/budget.ts';
import { connectionOf } from '../../src/cluster/connection.ts';
import { ClusterDatabase } from '../../src/cluster/database.ts';
import { PAUSE_CHANNEL } from '../../src/cluster/share-table.ts';
import { PlatformFiles } from '../../src/platform/files.ts';
import { Http } from '../../src/platform/http.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { PlatformGate } from '../../src/platform/platform-gate.ts';
import { systemClock } from '../../src/service/system-clock.ts';

const [baseUrl, name, databaseUrl] = process.argv.slice(2);
const WORKERS = 16;
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

const limits = { maxRequestsPerSecond: null, maxBytesPerSecond: null, longestPauseMs: Infinity };
const gate = new PlatformGate(systemClock);
const pacer = new Pacer(limits, systemClock, undefined, gate);
const settings = { connections: WORKERS, stallTimeoutMs: 30_000, proxyEnvironment: null };
const http = new Http(settings, pacer, systemClock);
const platform = new PlatformFiles(http, baseUrl, { token: `bench-${name}`, identityHeaders: {} });

if (databaseUrl !== undefined) joinBudget(databaseUrl);
for (let worker = 0; worker < WORKERS; worker++) void work(worker);

function joinBudget(url) {
  const { config: connection } = connectionOf(url, 'bench');
  const database = new ClusterDatabase({ connection, patienceMs: 5000, connections: 2 });
  const owner = { budget: 'bench', host: name, instance: `${name}-${process.pid}`, schema: 'botsync' };
  const terms = { requestsPerSecond: 90, grantMs: 10_000, beatMs: 2500 };
  const budget = new Budget({ ...owner, ...terms }, database.sql, systemClock);
  budget.wanted = () => gate.wanted;
  budget.onShare((share) => gate.setShare(share));
  budget.onPause((ms) => gate.pause(ms));
  gate.onAskedPause((ms) => budget.notePause(ms));
  const heard = (payload) => budget.heardPause(payload);
  const always = new AbortController().signal;
  void database.listen(PAUSE_CHANNEL, heard, (signal) => systemClock.sleep(1000, signal), always);
  budget.start();
}

async function work(worker) {
  const content = Buffer.from(`from ${name}\n`);
  for (let n = 0; ; n++) {
    const body = {
      key: `${name}/${worker}-${n}`,
      size: content.length,
      index: false,
      tags: {},
      metadata: {},
    };
    const upserted = await platform.upsert(
      'bench',
      { ...body, accessPolicies: [], contentType: 'text/plain' },
      NEVER,
    );
    if (upserted.kind === 'failed') await systemClock.sleep(500 * Math.random(), NEVER);
    else await platform.upload(upserted.value, { kind: 'whole', bytes: content }, false, NEVER);
  }
}
