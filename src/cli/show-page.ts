import { spawn } from 'node:child_process';
import type { Log } from '../service/logger.ts';

/** What shows an address to whoever sits at this machine; `null`: nobody does, as far as is known. */
export function browserOpener(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string | null {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  // The desktop, if there is one, is not where the user sits.
  if (isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return null;
  if (platform === 'darwin') return 'open';
  return isSet('DISPLAY') || isSet('WAYLAND_DISPLAY') ? 'xdg-open' : null;
}

/** The address of a page for a browser on this machine. `address`: where it is listened at, such as `0.0.0.0:9464`. */
export function pageAddress(address: string): string {
  return `http://${address.replace(/^(?:0\.0\.0\.0|\[::\])(?=:\d+$)/u, 'localhost')}/`;
}

/** Says where the page is, and has the desktop's browser show it where there is one. */
export function showPage(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  log: Pick<Log, 'info'>,
): void {
  const url = pageAddress(address);
  log.info(`the page is at ${url}`);
  const opener = browserOpener(env, platform);
  if (opener === null) return;
  const failed = (reason: string): void => {
    log.info(`no browser could be opened (${reason}); open the address yourself`);
  };
  // It stays when botsync ends.
  const child = spawn(opener, [url], { env: { ...env }, detached: true, stdio: 'ignore' });
  child.once('error', ({ message }) => {
    failed(message);
  });
  child.once('exit', (code) => {
    if (code !== 0) failed(`${opener} ended with ${code ?? 'a signal'}`);
  });
  child.unref();
}
