import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Ended } from '../cli/binary.ts';
import { outOfOrder, PATIENCE } from './fault-world.ts';
import { launchHere, type DaemonHere } from './host-here.ts';
import { LEASE_MS, type Host, type HostOptions, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';
import { createShare, FILES, keysOf } from './shared-files.ts';

const server = await serverOfFile();

/** A host that has a mount point of its own for the share. */
interface MountingHost extends Host {
  /** Has the share appear at the mount point. */
  readonly mount: () => void;
  /** Leaves an empty directory in the place of the share. */
  readonly unmount: () => void;
  /** Leaves nothing in the place of the share. */
  readonly lose: () => void;
  readonly mountPoint: string;
  /** Starts its daemon. */
  readonly begin: () => Promise<DaemonHere>;
}

function mountingHost(hosts: Hosts, name: string, isMounted = true): MountingHost {
  const mountPoint = join(dirname(hosts.share), name, 'docs');
  const options: HostOptions = {
    config: {
      sources: [{ name: 'docs', directory: mountPoint }],
      removals: { mode: 'delete', delay: '200ms', maxFraction: 1, maxCount: 10_000 },
    },
  };
  const lose = (): void => {
    rmSync(mountPoint, { recursive: true, force: true });
  };
  const mounting: MountingHost = {
    ...hosts.host(name, options),
    mountPoint,
    begin: () => launchHere(hosts, name, options),
    lose,
    mount: () => {
      lose();
      symlinkSync(join(hosts.share, 'docs'), mountPoint);
    },
    unmount: () => {
      lose();
      mkdirSync(mountPoint);
    },
  };
  if (isMounted) mounting.mount();
  else mounting.unmount();
  return mounting;
}

/** Runs a command until it ends as it should. */
async function untilSaid(run: () => Promise<Ended>, words: string, code: number): Promise<void> {
  const ended = async (): Promise<string> => {
    const { code: got, stdout, stderr } = await run();
    return `${got} ${stdout}${stderr}`;
  };
  await expect.poll(ended, { ...PATIENCE, interval: 500 }).toContain(words);
  await expect.poll(ended, { ...PATIENCE, interval: 500 }).toMatch(new RegExp(`^${code} `, 'u'));
}

test.each([
  ['empty', 'emptied', 'has no files, although files of it were recorded'],
  ['other', 'replaced', 'was not checked before on this host, and contains 0 of 31 recorded files checked'],
])(
  'a host with an %s directory takes nothing, also when the holder dies: one that sees the files does',
  async (kind, halt, reason) => {
    const hosts = await createShare(server);
    const healthy = await mountingHost(hosts, 'web3').begin();
    await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(FILES);
    const blind = mountingHost(hosts, 'web1', false);
    if (kind === 'other')
      writeFileSync(join(blind.mountPoint, 'not-mounted'), 'the share is not mounted here');
    await blind.begin();
    const words = `web1 does not see docs: ${blind.mountPoint} ${reason}`;
    await untilSaid(() => healthy.run('cluster', 'status'), words, 0);
    await untilSaid(
      () => healthy.run('status'),
      words.replace('web1 does', 'web1 is on standby and does'),
      0,
    );
    await untilSaid(() => blind.run('status'), 'web1, is on standby and does not see docs', 0);
    const [{ hosts: rows } = { hosts: [] }] = (await healthy.run('cluster', 'status', '--json')).lines() as {
      hosts: unknown[];
    }[];
    expect(rows).toMatchObject([
      { name: 'web1', hindrances: [{ kind: 'unseen', source: 'docs', halt }] },
      { name: 'web3', hindrances: [] },
    ]);
    await mountingHost(hosts, 'web2').begin();
    await outOfOrder(LEASE_MS);
    expect(await hosts.holder()).toBe('web3');
    await healthy.kill();
    await expect.poll(() => hosts.holder(), PATIENCE).not.toBe('web3');
    expect(await hosts.holder()).toBe('web2');
    const epochs = await hosts.sql(`SELECT epoch::integer FROM botsync.unit WHERE name = 'docs'`);
    expect(epochs, 'nobody had it in between').toEqual([{ epoch: 2 }]);
    expect(keysOf(hosts)).toEqual(FILES);
  },
);

test.each(['unmount', 'lose'] as const)(
  'a holder that goes blind (%s) lets go of it, and nothing is removed',
  async (how) => {
    const hosts = await createShare(server);
    const holder = mountingHost(hosts, 'web1');
    await holder.begin();
    await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(FILES);
    await mountingHost(hosts, 'web2').begin();
    await expect.poll(() => hosts.sql('SELECT name FROM botsync.host'), PATIENCE).toHaveLength(2);
    holder[how]();
    await expect.poll(() => hosts.holder(), PATIENCE).toBe('web2');
    hosts.write('docs/new.md', 'new');
    await expect.poll(() => keysOf(hosts), PATIENCE).toEqual([...FILES, 'new.md'].sort());
    await outOfOrder(2 * LEASE_MS);
    expect(await hosts.holder(), 'it stays there').toBe('web2');
    // What was approved on the host that does not see them removes nothing.
    await holder.run('approve', 'docs', '--yes');
    await outOfOrder(LEASE_MS / 2);
    expect(keysOf(hosts)).toEqual([...FILES, 'new.md'].sort());
  },
);

test('where no host sees the files one holds the unit and halts, and it goes to the first that sees them again', async () => {
  const hosts = await createShare(server);
  const [one, other] = [mountingHost(hosts, 'web1'), mountingHost(hosts, 'web2')];
  await one.begin();
  await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(FILES);
  await other.begin();
  await expect.poll(() => hosts.sql('SELECT name FROM botsync.host'), PATIENCE).toHaveLength(2);
  const away = join(hosts.share, 'away');
  renameSync(join(hosts.share, 'docs'), away);
  mkdirSync(join(hosts.share, 'docs'));
  await untilSaid(() => other.run('status'), 'although files of it were recorded', 5);
  const epochOf = async (): Promise<number> => {
    const [row] = await hosts.sql(`SELECT epoch::integer FROM botsync.unit WHERE name = 'docs'`);
    return Number(row?.['epoch']);
  };
  const before = await epochOf();
  await outOfOrder(4 * LEASE_MS);
  expect(await hosts.holder()).not.toBeNull();
  expect((await epochOf()) - before, 'it is not passed back and forth').toBeLessThanOrEqual(1);
  expect(keysOf(hosts)).toEqual(FILES);
  const [seeing, holder] = (await hosts.holder()) === 'web1' ? [other, one] : [one, other];
  seeing.lose();
  symlinkSync(away, seeing.mountPoint);
  await expect.poll(() => hosts.holder(), PATIENCE).toBe(seeing.name);
  await untilSaid(() => holder.run('status'), `${seeing.name} syncs docs`, 0);
  expect(keysOf(hosts)).toEqual(FILES);
});

test('a host that begins with an empty directory leaves the unit to one that has files', async () => {
  const hosts = await createShare(server);
  const empty = mountingHost(hosts, 'web1', false);
  await empty.begin();
  await expect.poll(() => hosts.holder(), PATIENCE).toBe('web1');
  await untilSaid(() => empty.run('status'), 'In sync', 0);
  await mountingHost(hosts, 'web2').begin();
  await expect.poll(() => hosts.holder(), PATIENCE).toBe('web2');
  await expect.poll(() => keysOf(hosts), PATIENCE).toEqual(FILES);
  await untilSaid(() => empty.run('status'), `does not see docs: ${empty.mountPoint} has no files`, 0);
});

test('a single pass of a host that does not see the files leaves them to another, and halts where there is none', async () => {
  const hosts = await createShare(server);
  const blind = mountingHost(hosts, 'web1');
  expect(await blind.run('sync', '--once')).toMatchObject({ code: 0 });
  blind.unmount();
  const healthy = await mountingHost(hosts, 'web2').begin();
  await expect.poll(() => hosts.holder(), PATIENCE).toBe('web2');
  // Free for a moment: it could be taken.
  await healthy.stop();
  const alone = await blind.run('sync', '--once');
  expect(alone.code, alone.stderr).toBe(5);
  // One that sees them is up, and about to take it.
  await hosts.sql(`INSERT INTO botsync.host (name, instance, is_visitor, version, units, hindrances)
    SELECT 'web3', 'elsewhere', false, '1', json_build_array(id), '[]' FROM botsync.unit WHERE name = 'docs'`);
  const beating = setInterval(() => void hosts.sql('UPDATE botsync.host SET beat = beat + 1'), 100);
  onTestFinished(() => {
    clearInterval(beating);
  });
  const left = await blind.run('sync', '--once', '--allow-removals');
  expect(left.code, left.stderr).toBe(3);
  expect(left.stderr).toContain(
    `docs was left to web3, which sees its files: ${blind.mountPoint} has no files`,
  );
  expect(keysOf(hosts)).toEqual(FILES);
});
