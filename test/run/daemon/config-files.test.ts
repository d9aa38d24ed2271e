import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, type Site } from '../../cli/binary.ts';
import { launch, POLL, remote, says, type Daemon } from '../../cli/running-daemon.ts';

type Written = Record<string, unknown> & { readonly platform: object };

/** Writes the configuration anew as editors do, with other fields. */
function edit(site: Site, fields: (written: Written) => object): void {
  const file = join(site.directory, 'botsync.config.json');
  const written = JSON.parse(readFileSync(file, 'utf8')) as Written;
  writeFileSync(`${file}~new`, JSON.stringify({ ...written, ...fields(written) }));
  renameSync(`${file}~new`, file);
}

/** How often the log has a message with these words. */
const count = (daemon: Daemon, words: string): number =>
  daemon.log().filter(({ msg }) => String(msg).includes(words)).length;

const RELOADED = 'configuration changed on disk: reloaded';

test('a configuration that changes on disk is taken over, a broken one told once, and none when it says so', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const daemon = await launch(site);
  edit(site, () => ({ rules: [{ match: '**', tags: { kind: 'page' } }] }));
  await expect.poll(() => site.emulator.listFiles('bot-1')[0]?.tags, POLL).toEqual({ kind: 'page' });
  await expect.poll(() => count(daemon, RELOADED), POLL).toBe(1);
  const file = join(site.directory, 'botsync.config.json');
  expect(daemon.log().find(({ msg }) => msg === RELOADED)).toMatchObject({
    changed: [file],
    settings: ['rules'],
  });

  const sound = readFileSync(file, 'utf8');
  writeFileSync(file, '{ "sorces": [] }');
  await expect.poll(() => says(daemon, 'did you mean "sources"'), POLL).toBe(true);
  site.write('docs/b.md', 'two');
  await expect.poll(() => remote(site, 'b.md'), POLL).toBe('two');
  writeFileSync(file, sound);
  await expect.poll(() => count(daemon, RELOADED), POLL).toBe(2);
  expect(count(daemon, 'not reloaded')).toBe(1);
  expect(count(daemon, 'reloaded, and no setting differs')).toBe(1);

  // Another file of a secret, which is not there yet.
  edit(site, ({ platform }) => ({ platform: { ...platform, token: 'file:later/token' } }));
  await expect.poll(() => says(daemon, 'later/token does not exist'), POLL).toBe(true);
  mkdirSync(join(site.directory, 'later'));
  writeFileSync(join(site.directory, 'later/token'), site.emulator.token, { mode: 0o600 });
  await expect.poll(() => count(daemon, RELOADED), POLL).toBe(3);

  edit(site, () => ({ service: { reloadOnChange: false } }));
  await expect.poll(() => count(daemon, RELOADED), POLL).toBe(4);
  edit(site, () => ({ rules: [] }));
  site.write('docs/c.md', 'three');
  await expect.poll(() => remote(site, 'c.md'), POLL).toBe('three');
  expect(site.emulator.listFiles('bot-1').find(({ key }) => key === 'c.md')?.tags).toEqual({ kind: 'page' });
  edit(site, () => ({ service: {} }));
  daemon.child.kill('SIGHUP');
  await expect.poll(() => count(daemon, 'the configuration was reloaded'), POLL).toBe(1);
  edit(site, () => ({ rules: [{ match: '**', tags: { kind: 'last' } }] }));
  await expect.poll(() => count(daemon, RELOADED), POLL).toBe(5);
  daemon.child.kill('SIGTERM');
  const { code, stderr, stdout } = await daemon.ended;
  expect(code).toBe(0);
  expect(stderr + stdout).not.toContain(site.emulator.token);
});

test('a token that a Kubernetes volume swaps is used from then on', async () => {
  const site = await createSite();
  const volume = join(site.directory, 'volume');
  const lay = (name: string, token: string): void => {
    mkdirSync(join(volume, name), { recursive: true });
    writeFileSync(join(volume, name, 'token'), token);
    chmodSync(join(volume, name, 'token'), 0o600);
    symlinkSync(name, join(volume, '..data_tmp'));
    renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
  };
  lay('..first', 'wrong');
  symlinkSync('..data/token', join(volume, 'token'));
  edit(site, ({ platform }) => ({ platform: { ...platform, token: 'file:volume/token' } }));
  site.write('docs/a.md', 'one');
  const daemon = await launch(site);
  expect(remote(site, 'a.md')).toBeNull();
  lay('..second', site.emulator.token);
  rmSync(join(volume, '..first'), { recursive: true });
  await expect.poll(() => remote(site, 'a.md'), POLL).toBe('one');
  await expect
    .poll(() => daemon.log().find(({ msg }) => msg === RELOADED), POLL)
    .toMatchObject({
      changed: [join(volume, 'token')],
      settings: ['platform.token'],
    });
  daemon.child.kill('SIGTERM');
  const { stderr, stdout } = await daemon.ended;
  expect(stderr + stdout).not.toContain(site.emulator.token);
});
