import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run } from './binary.ts';
import { launch, POLL, remote, says, status } from './running-daemon.ts';

test('sync --open needs a page, and a service', async () => {
  const { directory, env } = await createSite();
  const without = await run(directory, ['sync', '--open'], env);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain('--open needs an address for the page');
  expect(without.stderr).toContain('"service": { "listen": "127.0.0.1:9464" }');
  const once = await run(directory, ['sync', '--open', '--once'], env);
  expect(once.code).toBe(2);
  expect(once.stderr).toContain('--open is for the service');
});

test('sync --open shows the page in a browser; rescan asks the service for a look', async () => {
  const site = await createSite({
    service: { listen: '127.0.0.1:0' },
    // Nothing but what is asked for is seen.
    ...{ watch: { poll: true, pollInterval: '1h' }, upload: { attempts: 1 } },
  });
  const { directory, env } = site;
  const opener = join(directory, 'xdg-open');
  const opened = join(directory, 'opened');
  writeFileSync(opener, `#!/bin/sh\necho "$1" > ${opened}.part; mv ${opened}.part ${opened}\n`);
  chmodSync(opener, 0o755);
  const desktop = {
    DISPLAY: ':0',
    SSH_CONNECTION: '',
    SSH_TTY: '',
    PATH: `${directory}:${process.env['PATH']}`,
  };
  const daemon = await launch(site, ['--open'], desktop);
  await expect.poll(() => existsSync(opened), POLL).toBe(true);
  const address = readFileSync(opened, 'utf8').trim();
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/$/u);
  expect(says(daemon, `the page is at ${address}`)).toBe(true);
  expect(await (await fetch(address)).text()).toMatch(/^<!doctype html>/iu);

  site.write('docs/a.md', 'a');
  const everything = await run(directory, ['rescan'], env);
  expect(everything).toMatchObject({ code: 0, stderr: '' });
  expect(everything.stdout).toBe(
    'Everything is being checked, and failed files are retried. Watch it with: botsync status\n',
  );
  await expect.poll(() => remote(site, 'a.md'), POLL).toBe('a');
  site.write('docs/b c.md', 'b');
  const one = await run(directory, ['rescan', 'docs/b c.md', '--json'], env);
  expect(one.lines()).toEqual([{ rescan: 'path', source: 'docs', path: 'b c.md' }]);
  await expect.poll(() => remote(site, 'b c.md'), POLL).toBe('b');
  const source = await run(directory, ['rescan', 'docs', '--json'], env);
  expect(source.lines()).toEqual([{ rescan: 'pass', source: 'docs', path: null }]);
  expect(await run(directory, ['rescan', 'docs/x.tmp'], env)).toMatchObject({ code: 3, stdout: '' });
  expect(await run(directory, ['rescan', 'elsewhere.md'], env)).toMatchObject({ code: 2, stdout: '' });
  await expect.poll(async () => (await status(site))['inSync'], POLL).toBe(true);

  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const absent = await run(directory, ['rescan'], env);
  expect(absent).toMatchObject({ code: 3, stdout: '' });
  expect(absent.stderr).toContain('run: botsync sync --once');
});
