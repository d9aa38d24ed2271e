// The ledger's part of a host, without a platform: intents that are durable, and the loading of records. Functions take the
// address of a database whose ledger has no units yet.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';
import { ClusterDatabase } from '../../src/cluster/postgres/database.ts';
import { Ledger } from '../../src/cluster/postgres/ledger.ts';
import { Membership } from '../../src/cluster/postgres/membership.ts';
import { LEDGER_VERSION, ledgerTables } from '../../src/cluster/postgres/schema.ts';
import { STATE_VERSION } from '../../src/store/schema.ts';
import { WorkingCopy } from '../../src/store/working-copy.ts';

/** Statements that make an empty ledger. */
export const emptyLedger = [
  ...ledgerTables('botsync'),
  `INSERT INTO botsync.meta (version, state_version) VALUES (${LEDGER_VERSION}, ${STATE_VERSION})`,
];

const TARGET = { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' };
const ATTEMPT = { fingerprint: '5:1:1:1', trusted: true, settingsDigest: 'settings', sizeBytes: 5 };

/** A host with a unit of its own. */
async function openHost(url, name) {
  const { config: connection } = connectionOf(url, name);
  const database = new ClusterDatabase({ connection, patienceMs: 30_000, connections: 4 });
  const ledger = new Ledger(database.sql, 'botsync');
  const membership = new Membership(database.sql, 'botsync');
  const { id: target } = await ledger.target(TARGET);
  const sources = [{ name, keyPrefix: `${name}/` }];
  const unit = await membership.declare({ target, name, sources });
  const grant = await membership.claim(unit, 0, { name, instance: name });
  const directory = mkdtempSync(join(tmpdir(), 'botsync-bench-'));
  const copy = new WorkingCopy(join(directory, 'unit.db'));
  copy.loadTargets(await ledger.targets());
  let { seq } = grant;
  const store = copy.begin(async (rows) => {
    if ((await ledger.ship(grant, seq, name, rows)) !== 'taken') throw new Error('not taken');
    seq += 1;
  });
  const close = async () => {
    store.close();
    await database.close();
    rmSync(directory, { recursive: true });
  };
  const intend = (path) =>
    store.beginSending({ target, key: `${name}/${path}` }, name, path, ATTEMPT, Date.now());
  return { store, ledger, unit: unit.id, name, intend, close };
}

/** How long each intent took to be durable, milliseconds, at so many a second over all hosts. */
export async function intentMilliseconds(url, hosts, perSecond, seconds) {
  const all = await Promise.all(Array.from({ length: hosts }, (_, n) => openHost(url, `rate${n}`)));
  const taken = [];
  await Promise.all(
    all.map(async ({ intend }, n) => {
      const everyMs = (1000 * hosts) / perSecond;
      const began = performance.now() + (n * everyMs) / hosts;
      const open = [];
      for (let i = 0; i < (perSecond * seconds) / hosts; i++) {
        await delay(Math.max(0, began + i * everyMs - performance.now()));
        const at = performance.now();
        open.push(intend(`f${i}`).then(() => taken.push(performance.now() - at)));
      }
      await Promise.all(open);
    }),
  );
  for (const { close } of all) await close();
  return taken.sort((a, b) => a - b);
}

/** Intents that are durable a second, of one host with so many on their way. */
export async function intentsPerSecond(url, files, atOnce) {
  const host = await openHost(url, 'hungry');
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < files) await host.intend(`f${next++}`);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  await host.close();
  return files / seconds;
}

/** Seconds to load so many rows of files into a working copy. */
export async function loadSeconds(url, files) {
  const host = await openHost(url, 'full');
  for (let n = 0; n < files; n += 2000) {
    await Promise.all(
      Array.from({ length: 2000 }, (_, i) => host.intend(`section/topic/article-${n + i}.md`)),
    );
  }
  const directory = mkdtempSync(join(tmpdir(), 'botsync-bench-'));
  const began = performance.now();
  const copy = new WorkingCopy(join(directory, 'unit.db'));
  copy.loadTargets(await host.ledger.targets());
  for await (const page of host.ledger.rows(host.unit, host.name)) copy.load(page);
  const seconds = (performance.now() - began) / 1000;
  copy.close();
  await host.close();
  rmSync(directory, { recursive: true });
  return seconds;
}
