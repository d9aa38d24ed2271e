import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSite } from './binary.ts';
import { POLL } from './running-daemon.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test.runIf(hasTerminal).each([
  ['tells the kernel', []],
  // Of another session: no signal comes with the end of the terminal, as where that sent its own before.
  ['sent the signal before', ['setsid', '--wait']],
])(
  'SIGHUP reloads a service on a terminal; when that closes and %s, the service stops in order',
  async (_, prefix) => {
    const site = await createSite();
    site.write('docs/a.md', 'a');
    const holderFile = join(site.directory, '.botsync/state.db.lock.json');
    let screen = '';
    const terminal = openTerminal(site.directory, ['sync'], site.env, prefix);
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
    await expect.poll(() => screen, POLL).toContain('In sync');
    const { pid } = JSON.parse(readFileSync(holderFile, 'utf8')) as { readonly pid: number };
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    process.kill(pid, 'SIGHUP');
    await expect.poll(() => screen, POLL).toContain('the configuration was reloaded');
    terminal.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), POLL).toBe(false);
    // A process that was killed would have left it.
    expect(existsSync(holderFile)).toBe(false);
  },
);
