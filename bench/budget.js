// Four hosts that upload small files as fast as they may, in processes of their own, under a limit of 100 requests in any
// second: with shares of one budget in PostgreSQL, and beside it by the headers of answers alone, as hosts that know nothing of
// each other. 90 of the 100 are the budget, which leaves room for what is on its way.
import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { bundled } from './bundled.js';
import { readTally, row, setConditions, withScratch, withServer } from './measure.js';

const LIMIT = 100;
const HOSTS = ['one', 'two', 'three', 'four'];
const SECONDS = 60;
/** Until all hosts have begun and had their first grants. */
const BEGIN_SECONDS = 5;

/** Shares and headers, one after the other. */
export async function budget() {
  const shares = await withBudgetTables((databaseUrl) => hungryHosts(databaseUrl));
  const headers = await hungryHosts();
  return {
    name: `${HOSTS.length} hungry hosts at ${LIMIT} requests/s for ${SECONDS} s`,
    figures: {
      'requests/s of the budget': shares.rate,
      'requests/s by headers alone': headers.rate,
      'refused (429) by headers alone': headers.refused,
      'slowest host by headers alone': headers.slowest,
    },
    rows: [
      row('refused for the rate (429)', shares.refused, '<=', 0, ''),
      row('part of the limit', shares.rate / LIMIT, '>=', 0.85, ''),
      row('part of the slowest host', shares.slowest, '>=', 0.9 / HOSTS.length, ''),
    ],
  };
}

/** Requests a second of all together, the slowest one's part of them, and how many were refused from the first on. */
async function hungryHosts(...databaseUrl) {
  const program = await bundled(new URL('contenders/hungry-host.js', import.meta.url));
  return withServer(async (baseUrl) => {
    await setConditions(baseUrl, { rateLimit: { requests: LIMIT, retryAfter: true } });
    const hosts = HOSTS.map((name) =>
      spawn(process.execPath, [program, baseUrl, name, ...databaseUrl], { stdio: 'inherit' }),
    );
    try {
      await delay((BEGIN_SECONDS + SECONDS) * 1000);
      const { clients, nowMs } = await readTally(baseUrl);
      const counts = HOSTS.map(
        (name) =>
          (clients[name]?.admitted ?? []).filter((ms) => ms > nowMs - SECONDS * 1000 && ms <= nowMs).length,
      );
      const all = counts.reduce((sum, count) => sum + count, 0);
      const refused = HOSTS.reduce((sum, name) => sum + (clients[name]?.refused ?? 0), 0);
      return { rate: all / SECONDS, slowest: Math.min(...counts) / all, refused };
    } finally {
      for (const host of hosts) host.kill();
    }
  });
}

/** Runs something with the address of a database that has the tables of budgets. */
function withBudgetTables(action) {
  return withScratch(async (scratch) => {
    const [{ startPostgres }, { budgetTables }] = await Promise.all(
      ['../test/cluster/postgres.ts', '../src/cluster/budget-tables.ts'].map(
        async (path) => import(await bundled(new URL(path, import.meta.url))),
      ),
    );
    // The server is another user's, and its programs are copied there.
    chmodSync(scratch, 0o755);
    process.env.BOTSYNC_TEST_RUN = scratch;
    const server = await startPostgres();
    try {
      await server.query(['CREATE SCHEMA botsync', ...budgetTables('botsync')].join(';'));
      return await action(server.url());
    } finally {
      // Nothing else would keep this process alive until the server has ended.
      const alive = setInterval(() => undefined, 1000);
      await server.close();
      clearInterval(alive);
    }
  });
}
