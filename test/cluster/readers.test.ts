import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { POLL } from '../cli/running-daemon.ts';
import { launchHere } from './host-here.ts';
import { createHosts, type HostOptions, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const PASSWORD = 'pass-word-of-the-database';

const server = await serverOfFile();

function withTwoSources(hosts: Hosts): HostOptions {
  mkdirSync(join(hosts.share, 'own'));
  const sources = [
    { name: 'docs', directory: join(hosts.share, 'docs'), keyPrefix: 'docs/' },
    { name: 'own', directory: join(hosts.share, 'own'), keyPrefix: 'own/' },
  ];
  return { config: { sources } };
}

const content = (hosts: Hosts, key: string): string | undefined =>
  hosts.emulator.readContent('bot-1', key)?.toString();

describe('what is on record', () => {
  test('is read from the ledger, on whichever host', async () => {
    const hosts = await createHosts(server);
    const options = withTwoSources(hosts);
    hosts.write('docs/a.md', 'first');
    hosts.write('own/b.md', 'second');
    const web1 = await launchHere(hosts, 'web1', options);
    await expect
      .poll(() => [content(hosts, 'docs/a.md'), content(hosts, 'own/b.md')], POLL)
      .toEqual(['first', 'second']);
    await expect
      .poll(async () => (await hosts.sql("SELECT 1 FROM botsync.file WHERE state = 'synced'")).length, POLL)
      .toBe(2);
    const web2 = await launchHere(hosts, 'web2', options);
    await expect
      .poll(async () => (await web2.run('status', '--json')).lines()[0], POLL)
      .toMatchObject({
        sources: [
          { name: 'docs', files: 1 },
          { name: 'own', files: 1 },
        ],
      });
    await web2.stop();
    // What web2 took when it joined goes back.
    await expect
      .poll(async () => (await web2.run('status', '--json')).lines(), POLL)
      .toMatchObject([
        {
          sources: [
            { name: 'docs', files: 1, syncedBy: 'web1' },
            { name: 'own', files: 1, syncedBy: 'web1' },
          ],
          daemon: null,
        },
      ]);
    const words = await web2.run('status');
    expect(words.stdout).toMatch(/^docs: synced by web1; 1 file in sync, 5 B/mu);

    const asked = [
      await web2.run('approve', 'docs'),
      await web2.run('rescan', join(hosts.share, 'docs', 'a.md')),
    ];
    expect(asked.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      asked.map(() => ({ code: 0, stderr: '' })),
    );
    expect(asked[0]?.stdout).toBe('No source is halted, so there is nothing to approve.\n');
    expect(asked[1]?.stdout).toBe('web1 was asked: rescan docs/a.md\n');
    await expect.poll(() => hosts.sql('SELECT * FROM botsync.wish'), POLL).toEqual([]);
    await web1.stop();
    expect(web1.log).toContainEqual(expect.stringContaining('another host asked for this: rescan docs'));
    expect(await web2.run('rescan', join(hosts.share, 'docs', 'a.md'))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the source "docs" is not kept by a host just now') as string,
    });

    for (const host of [web1, web2]) {
      const status = await host.run('status', '--json');
      expect(status.lines()).toMatchObject([
        {
          sources: [
            { name: 'docs', files: 1 },
            { name: 'own', files: 1 },
          ],
          lastPass: { exitCode: 0 },
        },
      ]);
      const plan = await host.run('sync', '--dry-run', '--json');
      expect(plan.lines(), plan.stderr).toMatchObject([{ kind: 'summary', unchanged: 2, uploaded: 0 }]);
      const listed = await host.run('ls', '--json');
      expect(listed.lines()).toHaveLength(2);
      const verified = await host.run('verify', '--json');
      expect(verified.code, verified.stderr).toBe(0);
      const explained = await host.run('explain', join(hosts.share, 'docs', 'a.md'), '--json');
      expect(explained.lines()).toMatchObject([{ key: 'docs/a.md' }]);
      expect(explained.stdout).toContain('unchanged');
      const history = await host.run('history', join(hosts.share, 'docs', 'a.md'), '--json');
      const [first] = history.lines();
      // The event is on record where it happened, the file everywhere.
      expect(first).toMatchObject({ kind: host === web1 ? 'upload' : 'file' });
      expect(history.lines().at(-1)).toMatchObject({ kind: 'file', key: 'docs/a.md' });
      expect(await host.run('verify', '--repair'), 'nothing differs').toMatchObject({ code: 0 });
      expect(await host.run('verify', '--prune')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('in the ledger of the cluster') as string,
      });
      const doctor = await host.run('doctor', '--json');
      const findings = (doctor.lines()[0] ?? []) as unknown as {
        check: string;
        status: string;
        message: string;
      }[];
      const of = (check: string) => findings.filter((one) => one.check === check);
      expect(of('cluster').map(({ status: state }) => state)).toEqual(['ok', 'warn', 'ok']);
      expect(of('state')[0]?.message).toContain('2 in sync');
      expect(of('directories')).toHaveLength(2);
    }
  });

  test('is told to be out of reach without the database, and no password with it; the emulator needs none', async () => {
    const hosts = await createHosts(server);
    const url = new URL(server.url(hosts.database));
    url.port = '9';
    url.password = PASSWORD;
    const cut = hosts.host('web1', { databaseUrl: url.href });
    const ended = [
      await cut.run('status', '--json'),
      await cut.run('cluster', 'status'),
      await cut.run('ls'),
      await cut.run('doctor'),
      await cut.run('approve', 'docs'),
    ];
    for (const { code, stdout, stderr } of ended) {
      expect(code, stderr).toBe(3);
      expect(`${stdout}${stderr}`).toContain('cannot be reached');
      expect(`${stdout}${stderr}`).not.toContain(PASSWORD);
    }
    const wrong = new URL(server.url('not_there'));
    wrong.password = PASSWORD;
    const lost = await hosts.host('web2', { databaseUrl: wrong.href }).run('doctor');
    expect(lost.stdout).toContain('fail  cluster');
    expect(`${lost.stdout}${lost.stderr}`).not.toContain(PASSWORD);
    expect(await cut.run('status', '--emulator', '--json')).toMatchObject({ stderr: '' });
    const none = { ...(await cut.run('sync', '--once', '--emulator')) };
    expect(none.code, none.stderr).toBe(0);
  });
});
