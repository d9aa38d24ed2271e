import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SyncDaemon } from '../../src/run/botsync.ts';
import { startBlackHole } from './black-hole.ts';
import { outOfOrder } from './fault-world.ts';
import { openHost } from './host-here.ts';
import { createHosts, LEASE_MS, type Host, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Longer than any of it takes. */
const PATIENCE = { timeout: 40_000, interval: 50 };

const BOTS = [
  { id: 'bot-1', name: 'One' },
  { id: 'bot-2', name: 'Two' },
];

/** Writes other fields into the configuration of a host, and has its service take them. */
async function reload(
  { directory }: Host,
  daemon: SyncDaemon,
  fields: Record<string, unknown>,
): Promise<void> {
  const file = join(directory, 'botsync.json');
  const before = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...before, ...fields }));
  expect(await daemon.reload()).toEqual({ problem: null });
}

const keysOf = ({ emulator }: Hosts, bot: string): string[] => emulator.listFiles(bot).map(({ key }) => key);

/** Rows that no host would find: of a unit of another target. */
const astray = ({ sql }: Hosts): Promise<unknown[]> =>
  sql(
    'SELECT body FROM botsync.file JOIN botsync.unit ON unit.id = file.unit WHERE file.target <> unit.target',
  );

test(
  'a source that belongs elsewhere after a reload is synced under its new unit',
  { timeout: 150_000 },
  async () => {
    const hosts = await createHosts(server, { bots: BOTS });
    const files = Array.from({ length: 30 }, (_, i) => `f${i}.md`).sort();
    for (const name of files) hosts.write(`docs/${name}`, name);
    const other = join(hosts.share, 'other');
    mkdirSync(other);
    const database = await startBlackHole('127.0.0.1', server.port);
    onTestFinished(() => database.close());
    const host = openHost(hosts, 'web1', { databaseUrl: database.lead(hosts.databaseUrl) });
    const daemon = await host.sync.start();
    await expect.poll(() => keysOf(hosts, 'bot-1'), PATIENCE).toEqual(files);

    // Another bot. For a moment the ledger does not know of that: the line to it is slow.
    const docs = { name: 'docs', directory: join(hosts.share, 'docs') };
    await database.hold();
    await reload(host, daemon, { sources: [{ ...docs, botId: 'bot-2' }] });
    await outOfOrder(LEASE_MS / 10);
    await database.pass();
    await expect.poll(() => keysOf(hosts, 'bot-2'), PATIENCE).toEqual(files);
    expect(await astray(hosts)).toEqual([]);

    // Another prefix: the same unit, begun anew.
    await reload(host, daemon, { sources: [{ ...docs, botId: 'bot-2', keyPrefix: 'en/' }] });
    await expect.poll(async () => (await host.run('approve', 'docs', '--yes')).code, PATIENCE).toBe(0);
    const both = [...files.map((name) => `en/${name}`), ...files];
    await expect.poll(() => keysOf(hosts, 'bot-2').sort(), PATIENCE).toEqual(both.sort());
    expect(await astray(hosts)).toEqual([]);
  },
);
