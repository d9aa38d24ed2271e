import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileEvent } from '../../src/run/botsync.ts';
import { Clockwork } from './clockwork.ts';
import { launchHere, openHost } from './host-here.ts';
import { createHosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

const PATIENCE = { timeout: 45_000, interval: 50 };

test('a host that cannot make a working copy says so, lives on, and takes the unit when it can', async () => {
  const hosts = await createHosts(server);
  hosts.write('docs/a.md', 'first');
  const inTheWay = join(hosts.host('web1').directory, 'state.db.units');
  writeFileSync(inTheWay, 'no directory');
  const web1 = await launchHere(hosts, 'web1');
  await expect
    .poll(() => web1.run('status'), PATIENCE)
    .toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/docs is synced by no host: .*state\.db\.units/u) as string,
    });
  rmSync(inTheWay);
  await expect.poll(() => hosts.content('a.md'), PATIENCE).toBe('first');
}, 120_000);

test('a defect in the work on a unit ends that work alone, says where it was, and lets go of the unit', async () => {
  const hosts = await createHosts(server);
  const sources = ['docs', 'faq'].map((name) => ({
    ...{ name, directory: join(hosts.share, name), keyPrefix: `${name}/` },
  }));
  hosts.write('docs/a.md', 'first');
  hosts.write('faq/a.md', 'first');
  let isBroken = true;
  // An observer of an embedding program is called in the midst of the work.
  const observer = {
    event: ({ source }: FileEvent) => {
      if (isBroken && source === 'docs') throw new TypeError('of this test');
    },
  };
  const { sync, log, metric } = openHost(hosts, 'web1', { config: { sources } }, observer);
  const daemon = await sync.start();
  const words = 'docs cannot be synced by this host: an unexpected error: of this test; it is retried';
  await expect.poll(() => log, PATIENCE).toContain(words);
  const place =
    /^the work on docs ended by an error that botsync did not expect: TypeError: of this test\n +at /u;
  expect(log).toContainEqual(expect.stringMatching(place));
  expect(await hosts.holder('docs'), 'another host could take it at once').toBeNull();
  hosts.write('faq/b.md', 'second');
  await expect.poll(() => hosts.content('faq/b.md'), PATIENCE).toBe('second');
  expect(daemon.impediments.join()).toContain('an unexpected error: of this test');
  expect(await hosts.holder('faq')).toBe('web1');
  expect(await metric('botsync_cluster_leases_lost_total')).toBe(0);
  isBroken = false;
  hosts.write('docs/b.md', 'third');
  await expect.poll(() => hosts.content('docs/b.md'), PATIENCE).toBe('third');
  expect(log.filter((line) => line === words)).toHaveLength(1);
  await daemon.stop();
}, 120_000);

test('records that the database never takes end the work on their unit, also where nobody waits for them', async () => {
  const world = await Clockwork.create(server);
  const host = world.begin('web1');
  await world.untilHeldBy(host);
  await host.record('a');
  await world.hosts.sql(`ALTER TABLE botsync.entry ADD CHECK (tbl <> 'told')`);
  host.worked?.state.notices.saveTold('anything', { toldAtMs: 1, count: null });
  await world.until(() => host.worked === null, 'it ends');
  await world.until(() => host.log.some((line) => line.includes('; it is retried')), 'it says why');
  expect(host.log).toContainEqual(
    expect.stringMatching(
      /^docs cannot be synced by this host: the database refuses records of docs: .*check/u,
    ),
  );
  await world.untilHeldBy(world.begin('web2'));
});

test('a unit whose records the database does not let one host write goes to another host', async () => {
  const hosts = await createHosts(server);
  await hosts.sql(`CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA botsync TO reader;
    GRANT ALL ON ALL TABLES IN SCHEMA botsync TO reader; REVOKE INSERT, UPDATE, DELETE ON botsync.file FROM reader`);
  hosts.write('docs/a.md', 'first');
  const web1 = await launchHere(hosts, 'web1', { databaseUrl: server.url(hosts.database, 'reader') });
  await expect
    .poll(() => web1.run('status'), PATIENCE)
    .toMatchObject({
      code: 3,
      stdout: expect.stringContaining(
        'docs is synced by no host: the database refuses records of docs: permission denied for table file',
      ) as string,
    });
  await launchHere(hosts, 'web2');
  await expect.poll(() => hosts.content('a.md'), PATIENCE).toBe('first');
}, 120_000);
