import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';
import { ClusterDatabase } from '../../src/cluster/postgres/database.ts';
import { SourceSettings } from '../../src/cluster/postgres/source-settings.ts';
import { outOfOrder, PATIENCE } from './fault-world.ts';
import { launchHere } from './host-here.ts';
import { createHosts, LEASE_MS, type Host, type HostOptions, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';
import { createShare, FILES, keysOf } from './shared-files.ts';

const server = await serverOfFile();

function prefixed(hosts: Hosts, keyPrefix: string): HostOptions {
  const removals = { mode: 'delete', delay: '200ms', maxFraction: 1, maxCount: 10_000 };
  return {
    config: { sources: [{ name: 'docs', directory: join(hosts.share, 'docs'), keyPrefix }], removals },
  };
}

/** Writes another prefix into a host's configuration. */
function change({ directory }: Host, keyPrefix: string): void {
  const file = join(directory, 'botsync.json');
  const before = JSON.parse(readFileSync(file, 'utf8')) as { sources: object[] };
  writeFileSync(
    file,
    JSON.stringify({ ...before, sources: before.sources.map((source) => ({ ...source, keyPrefix })) }),
  );
}

const DIFFERS = 'has another configuration of docs than the ledger: keyPrefix is "deeper/", in the ledger ""';

test('a host with another configuration of a source takes nothing of it, and names what differs', async () => {
  const hosts = await createShare(server);
  const one = await launchHere(hosts, 'web1', prefixed(hosts, ''));
  await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(FILES);
  let web2 = await launchHere(hosts, 'web2', prefixed(hosts, 'deeper/'));
  const status = async (...args: string[]): Promise<string> => {
    const { code, stdout } = await web2.run(...args);
    return `${code} ${stdout}`;
  };
  await expect.poll(() => status('status'), PATIENCE).toContain(`this host ${DIFFERS}`);
  expect(await status('status')).toMatch(/^5 /u);
  expect(await status('status'), 'it knows who syncs it').toContain('web1 syncs docs');
  expect(await status('cluster', 'status')).toMatch(/^5 /u);
  expect(await status('cluster', 'status')).toContain(`web2 ${DIFFERS}`);
  // Its process is killed, and comes back with what it had: it replaces nothing.
  await web2.kill();
  web2 = await launchHere(hosts, 'web2', prefixed(hosts, 'deeper/'));
  await one.kill();
  await expect.poll(() => status('status'), PATIENCE).toContain('docs is synced by no host');
  await outOfOrder(2 * LEASE_MS);
  expect(await status('status')).toMatch(/^5 /u);
  await web2.stop();
  const once = await web2.run('sync', '--once');
  expect(once.code, once.stderr).toBe(5);
  expect(once.stderr).toContain(DIFFERS);
  expect(keysOf(hosts)).toEqual(FILES);
});

test('a host that has another directory for a source sends nothing from there', async () => {
  const hosts = await createShare(server);
  mkdirSync(join(hosts.share, 'docs', 'deeper'));
  for (const name of FILES) hosts.write(`docs/deeper/x${name}`, name);
  const all = [...FILES, ...FILES.map((name) => `deeper/x${name}`)].sort();
  const one = await launchHere(hosts, 'web1', prefixed(hosts, ''));
  await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(all);
  const { config = {} } = prefixed(hosts, '');
  const deeper = { name: 'docs', directory: join(hosts.share, 'docs', 'deeper') };
  const web2 = await launchHere(hosts, 'web2', { config: { ...config, sources: [deeper] } });
  await expect.poll(() => hosts.sql('SELECT name FROM botsync.host'), PATIENCE).toHaveLength(2);
  await one.kill();
  await expect
    .poll(async () => (await web2.run('status')).stdout, PATIENCE)
    .toContain('0 of 62 recorded files');
  // No other host is left that sees them: it holds the unit, and halts it.
  await expect.poll(async () => (await web2.run('status')).code, PATIENCE).toBe(5);
  expect(await hosts.holder()).toBe('web2');
  expect(keysOf(hosts)).toEqual(all);
});

test(
  'a change of the configuration is taken over by restarting hosts one by one',
  { timeout: 120_000 },
  async () => {
    const hosts = await createShare(server);
    let web1 = await launchHere(hosts, 'web1', prefixed(hosts, ''));
    await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(FILES);
    const before = await launchHere(hosts, 'web2', prefixed(hosts, ''));
    await expect.poll(() => hosts.sql('SELECT name FROM botsync.host'), PATIENCE).toHaveLength(2);
    await before.stop();
    const web2 = await launchHere(hosts, 'web2', prefixed(hosts, 'kb/'));
    // The first host goes on under the old one until the ledger has the new one; then it holds it no more.
    await expect.poll(() => hosts.holder(), PATIENCE).toBe('web2');
    await expect.poll(async () => (await web1.run('status')).code, PATIENCE).toBe(5);
    // Any host may be asked: that it sees the files is no reason against other keys.
    const approved = async (): Promise<string[]> => {
      await web1.run('approve', 'docs', '--yes');
      return keysOf(hosts);
    };
    await expect.poll(approved, PATIENCE).toEqual(FILES.map((name) => `kb/${name}`));
    await web1.kill();
    web1 = await launchHere(hosts, 'web1', prefixed(hosts, ''));
    await outOfOrder(LEASE_MS);
    expect(await hosts.holder(), 'the old one does not come back').toBe('web2');
    change(web1, 'kb/');
    expect((await web1.run('reload')).code).toBe(0);
    await expect.poll(async () => (await web1.run('status')).code, PATIENCE).toBe(0);
    expect((await web2.run('cluster', 'status')).code).toBe(0);
    expect(keysOf(hosts)).toEqual(FILES.map((name) => `kb/${name}`));
  },
);

test('the first configuration is kept; a host that had another one before replaces it', async () => {
  const hosts = await createHosts(server);
  const connection = connectionOf(server.url(hosts.database), 'test');
  if (connection.kind === 'problem') throw new Error(connection.message);
  const database = new ClusterDatabase({ connection: connection.config, patienceMs: 10_000, connections: 1 });
  onTestFinished(() => database.close());
  const settings = new SourceSettings(database.sql, 'botsync');
  const bring = async (host: string, text: string): Promise<string | undefined> =>
    (await settings.bring(host, new Map([['docs', text]]))).get('docs');
  expect(await bring('web1', 'a')).toBe('a');
  expect(await bring('web2', 'b'), 'it is new').toBe('a');
  expect(await bring('web2', 'b'), 'it comes back as it was').toBe('a');
  expect(await bring('web2', 'c'), 'it had another').toBe('c');
  expect(await bring('web1', 'a'), 'it comes back as it was').toBe('c');
  expect(await bring('web1', 'c')).toBe('c');
  expect(await bring('web1', '"\\u0000'), 'what no text can hold').toBe('"\\u0000');
});
