import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { openSync, type OpenOptions, type Sync, type SyncDaemon } from '../../src/run/botsync.ts';
import type { Log } from '../../src/service/logger.ts';
import { createSite, type Site } from '../cli/binary.ts';

/** The secret of people who may act from the page. */
export const CONTROL_SECRET = 'velo-rentals-control';

/** A directory, an emulator, and in this process a daemon with its page. */
export interface DaemonSite extends Site {
  /** The address of the page. */
  readonly address: string;
  readonly daemon: SyncDaemon;
  /** Messages of the log so far. */
  readonly log: readonly string[];
}

/** What a site is before its daemon starts. */
export interface SiteOptions {
  /** Top-level fields of the configuration. */
  readonly fields?: Record<string, unknown>;
  readonly emulator?: Partial<EmulatorOptions>;
  /** What is done once the site is there: files are written, conditions are set. */
  readonly prepare?: (site: Site) => Promise<void> | void;
}

/** Starts a daemon on a new site; its page takes `CONTROL_SECRET`. Both end with the test. */
export async function startDaemonSite({
  fields = {},
  emulator = {},
  prepare = () => undefined,
}: SiteOptions = {}): Promise<DaemonSite> {
  const site = await createSite(
    {
      service: { listen: '127.0.0.1:0', control: 'env:BOTSYNC_CONTROL' },
      watch: { settle: '20ms' },
      ...fields,
    },
    emulator,
    'auto',
  );
  await prepare(site);
  const log: string[] = [];
  const addresses: string[] = [];
  const note = (message: string, more: object = {}): void => {
    log.push(message);
    if (message === 'listening' && 'address' in more) addresses.push(`http://${String(more.address)}/`);
  };
  const listener: Log = { debug: () => undefined, info: note, warn: note, error: note };
  const sync = open(site, { log: listener, graceMs: 0 });
  onTestFinished(() => sync.close());
  const daemon = await sync.start();
  await expect.poll(() => addresses.length).toBe(1);
  return { ...site, address: addresses[0] ?? '', daemon, log };
}

/** A full pass over a site, before its daemon starts. */
export async function passOnce(site: Site): Promise<void> {
  const sync = open(site);
  await sync.pass();
  await sync.close();
}

function open(site: Site, options: Pick<OpenOptions, 'log' | 'graceMs'> = {}): Sync {
  return openSync({
    config: join(site.directory, 'botsync.config.json'),
    env: { ...site.env, BOTSYNC_CONTROL: CONTROL_SECRET },
    ...options,
  });
}

/** Gives a site the files of a shop that rents bicycles. */
export function fillSite({ directory }: Site): void {
  mkdirSync(join(directory, 'docs'), { recursive: true });
  cpSync(resolve(import.meta.dirname, '../../examples'), join(directory, 'docs'), { recursive: true });
}
