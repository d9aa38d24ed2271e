import { expect } from 'vitest';
import { run, start, type Running, type Site } from './binary.ts';

/** How often is looked at what a daemon is to do, milliseconds. */
export const POLL = { interval: 20 };

/** A daemon under way. */
export interface Daemon extends Running {
  /** Its log so far, one object a line. */
  readonly log: () => Record<string, unknown>[];
}

/** Starts a daemon. */
export function launchAtOnce(site: Site, args: string[] = [], env: Record<string, string> = {}): Daemon {
  const running = start(site.directory, ['sync', '--log-format', 'json', ...args], { ...site.env, ...env });
  let text = '';
  running.child.stderr?.on('data', (chunk: string) => (text += chunk));
  const log = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...running, log };
}

/** Starts a daemon and waits for the end of its first pass. */
export async function launch(
  site: Site,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Daemon> {
  const daemon = launchAtOnce(site, args, env);
  await expect.poll(() => daemon.log().some(({ trigger }) => trigger === 'start'), POLL).toBe(true);
  return daemon;
}

/** Whether a daemon's log has a message with these words. */
export const says = (daemon: Daemon, what: string): boolean =>
  daemon.log().some(({ msg }) => String(msg).includes(what));

/** What the platform holds of a key; `null` for nothing. */
export const remote = (site: Site, key: string): string | null =>
  site.emulator.readContent('bot-1', key)?.toString() ?? null;

/** What `botsync status --json` prints. */
export const status = async (site: Site): Promise<Record<string, unknown>> =>
  (await run(site.directory, ['status', '--json'], site.env)).lines()[0] ?? {};
