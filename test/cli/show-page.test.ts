import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { browserOpener, pageAddress, showPage } from '../../src/cli/commands/sync-daemon.ts';
import { temporaryDirectory } from './binary.ts';

test.each([
  [{ DISPLAY: ':0' }, 'linux', 'xdg-open'],
  [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', 'xdg-open'],
  [{ DISPLAY: '' }, 'linux', null],
  [{}, 'linux', null],
  [{ DISPLAY: ':10', SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, 'linux', null],
  [{}, 'darwin', 'open'],
  [{ SSH_TTY: '/dev/ttys1' }, 'darwin', null],
] as const)('with %j on %s a browser is opened by %s', (env, platform, opener) => {
  expect(browserOpener(env, platform)).toBe(opener);
});

test.each([
  ['127.0.0.1:9464', 'http://127.0.0.1:9464/'],
  ['0.0.0.0:9464', 'http://localhost:9464/'],
  ['[::]:80', 'http://localhost:80/'],
  ['[::1]:9464', 'http://[::1]:9464/'],
  ['10.0.0.0:1', 'http://10.0.0.0:1/'],
])('who listens at %s is reached at %s', (address, url) => {
  expect(pageAddress(address)).toBe(url);
});

/** A desktop whose `xdg-open` is a script; what was said. */
function desktop(script: string | null) {
  const directory = temporaryDirectory();
  if (script !== null) {
    writeFileSync(join(directory, 'xdg-open'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, 'xdg-open'), 0o755);
  }
  const said: string[] = [];
  const env = { DISPLAY: ':0', PATH: directory };
  const show = (): void => {
    showPage('127.0.0.1:9464', env, 'linux', { info: (message) => said.push(message) });
  };
  return { directory, said, show };
}

test('the browser is given the address', async () => {
  const { directory, said, show } = desktop(
    'echo "$1" > "$PATH/opened.part"; /bin/mv "$PATH/opened.part" "$PATH/opened"',
  );
  show();
  const opened = join(directory, 'opened');
  await expect
    .poll(() => existsSync(opened) && readFileSync(opened, 'utf8'))
    .toBe('http://127.0.0.1:9464/\n');
  expect(said).toEqual(['the page is at http://127.0.0.1:9464/']);
});

test.each([
  [null, /^no browser could be opened \(.*ENOENT\); open the address yourself$/u],
  ['exit 3', /^no browser could be opened \(xdg-open ended with 3\); open the address yourself$/u],
])('a browser that cannot be opened (%j) is one line', async (script, line) => {
  const { said, show } = desktop(script);
  show();
  await expect.poll(() => said.length).toBe(2);
  expect(said[1]).toMatch(line);
});
