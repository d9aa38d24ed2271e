import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDice } from '../cli/churn.ts';
import { POLL } from '../cli/running-daemon.ts';
import { SEED } from '../seed.ts';
import { FaultWorld, outOfOrder, PATIENCE } from './fault-world.ts';
import { launchHere } from './host-here.ts';
import { createHosts, LEASE_MS } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

describe('two hosts on one share', () => {
  test('one works, and the other goes on when it is killed', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const [one, other] = [hosts.host('web1').launch(), hosts.host('web2').launch()];
    await expect.poll(() => hosts.content('a.md'), POLL).toBe('first');
    const holder = await hosts.holder();
    const [working, waiting] = holder === 'web1' ? [one, other] : [other, one];
    hosts.write('docs/a.md', 'second');
    await expect.poll(() => hosts.content('a.md'), POLL).toBe('second');
    working.child.kill('SIGKILL');
    hosts.write('docs/b.md', 'third');
    await expect.poll(() => hosts.content('b.md'), POLL).toBe('third');
    expect(await hosts.holder()).toBe(holder === 'web1' ? 'web2' : 'web1');
    waiting.child.kill('SIGTERM');
    const ended = await waiting.ended;
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
    expect(await hosts.holder(), 'it let go of it').toBeNull();
  });
});

test('a host takes nothing that it does not see, lets go of all in a ledger of a newer version, and ends then', async () => {
  const hosts = await createHosts(server);
  hosts.write('docs/a.md', 'first');
  const away = join(hosts.share, 'away');
  const alone = hosts.host('web1', { config: { sources: [{ name: 'docs', directory: away }] } }).launch();
  const other = hosts.host('web2').launch();
  // Whichever is to have it: one of them does not see the directory.
  await expect.poll(() => hosts.content('a.md'), POLL).toBe('first');
  expect(await hosts.holder()).toBe('web2');
  await hosts.sql('UPDATE botsync.meta SET version = version + 1');
  const ended = await Promise.all([alone.ended, other.ended]);
  for (const { code, stderr } of ended) {
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toContain('newer version of botsync');
  }
  expect(await hosts.holder(), 'it was let go of').toBeNull();
});

test(
  'a unit that moves while its files change is sent whole, and nothing of it twice',
  { timeout: 200_000 },
  async () => {
    const dice = createDice(SEED);
    const world = await FaultWorld.create(server, { hosts: 3 });
    for (let moves = 0; moves < 2; moves += 1) {
      world.churn(dice, 30);
      const former = await world.holder();
      await world.move();
      while ((await world.holder()) === former) world.churn(dice, 3);
    }
    await world.settle();
  },
);

test(
  'a unit stays with a host that is cut off from the platform alone, and not with one that is from the database as well',
  { timeout: 200_000 },
  async () => {
    const dice = createDice(SEED);
    const world = await FaultWorld.create(server);
    const holder = await world.holder();
    await holder.platform.blackHole();
    world.churn(dice, 20);
    await expect.poll(() => holder.platform.counts.swallowedBytes, PATIENCE).toBeGreaterThan(0);
    await outOfOrder(LEASE_MS);
    expect(await world.holder()).toBe(holder);
    await holder.database.blackHole();
    await world.takenFrom(holder);
    world.churn(dice, 20);
    await Promise.all([holder.platform.heal(), holder.database.heal()]);
    await world.settle();
  },
);

test('of two machines with one name the second waits, says why, and goes on when the first is silent', async () => {
  const hosts = await createHosts(server);
  const first = await launchHere(hosts, 'web1');
  await expect.poll(() => hosts.holder(), POLL).toBe('web1');
  const second = await launchHere(hosts, 'elsewhere', { cluster: { host: 'web1' } });
  await expect
    .poll(() => second.log.join('\n'), POLL)
    .toContain('a host of the name "web1" takes part already');
  await expect
    .poll(async () => (await second.run('status', '--json')).stdout, POLL)
    .toContain('another host of the cluster is named');
  const holder = async (): Promise<unknown> => (await hosts.sql('SELECT holder FROM botsync.unit'))[0];
  const before = await holder();
  hosts.write('docs/a.md', 'of the first');
  await expect.poll(() => hosts.content('a.md'), POLL).toBe('of the first');
  expect(await holder()).toEqual(before);
  await first.kill();
  hosts.write('docs/b.md', 'of the second');
  await expect.poll(() => hosts.content('b.md'), POLL).toBe('of the second');
  expect(await holder()).not.toEqual(before);
});

test('hosts with many units keep each other from nothing', async () => {
  const hosts = await createHosts(server, { recordRequests: false });
  const names = Array.from({ length: 8 }, (_, i) => `s${i}`);
  for (const name of names) mkdirSync(join(hosts.share, name));
  const sources = names.map((name) => ({ name, directory: join(hosts.share, name), keyPrefix: `${name}/` }));
  const all = [
    await launchHere(hosts, 'web1', { config: { sources } }),
    await launchHere(hosts, 'web2', { config: { sources } }),
  ];
  for (let round = 0; round < 2; round += 1) {
    for (const name of names)
      for (let i = 0; i < 10; i += 1) hosts.write(`${name}/f${i}.md`, `${name} ${i} ${round}`);
    await expect
      .poll(() => names.map((name) => hosts.content(`${name}/f9.md`)), POLL)
      .toEqual(names.map((name) => `${name} 9 ${round}`));
    await hosts.sql(
      `INSERT INTO botsync.wish (unit, kind, body) SELECT id, 'release', json_build_object('epoch', epoch) FROM botsync.unit WHERE id % 2 = ${round}`,
    );
  }
  await expect.poll(() => hosts.sql('SELECT FROM botsync.wish'), POLL).toEqual([]);
  await Promise.all(all.map(({ stop }) => stop()));
  expect(
    await server.query(`SELECT deadlocks::integer FROM pg_stat_database WHERE datname = '${hosts.database}'`),
  ).toEqual([{ deadlocks: 0 }]);
});
