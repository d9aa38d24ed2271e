import type { SyncObserver } from '../../src/run/observer.ts';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSync, type Sync } from '../../src/run/botsync.ts';
import { askDaemon } from '../../src/service/daemon-socket.ts';
import { startBlackHole } from './black-hole.ts';
import type { Host, HostOptions, Hosts } from './hosts.ts';

/** A host in this process. It ends with the test. */
export interface HostHere extends Host {
  readonly sync: Sync;
  /** What its log said, and what it warned of. */
  readonly log: string[];
  /** What the socket of its daemon answers. */
  readonly ask: (method: 'GET' | 'POST', target: string) => Promise<string>;
  /** A metric of its daemon; `NaN`: there is none of this name. */
  readonly metric: (name: string) => Promise<number>;
}

/** A host whose daemon runs in this process. */
export interface DaemonHere extends HostHere {
  /** Ends the daemon in order. */
  readonly stop: () => Promise<void>;
  /** Ends the daemon as a kill does: the ledger hears nothing of it. */
  readonly kill: () => Promise<void>;
}

/** Longer than an answer takes, milliseconds. */
const ANSWER_MS = 9000;

/** Makes a host that is to run in this process, and what follows it besides its log. */
export function openHost(
  hosts: Hosts,
  name: string,
  options: HostOptions = {},
  observer: SyncObserver = {},
): HostHere {
  const host = hosts.host(name, options);
  const log: string[] = [];
  const note = (message: string): void => {
    log.push(message);
  };
  const sync = openSync({
    config: join(host.directory, 'botsync.json'),
    env: host.env,
    log: { debug: note, info: note, warn: note, error: note },
    observer: { ...observer, warn: note },
  });
  onTestFinished(() => sync[Symbol.asyncDispose]());
  const ask: HostHere['ask'] = async (method, target) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await askDaemon(join(host.directory, 'state.db'), method, target, signal);
    if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer));
    return answer.body;
  };
  const metric = async (metricName: string): Promise<number> =>
    Number(new RegExp(`^${metricName} (.*)$`, 'mu').exec(await ask('GET', '/metrics'))?.[1]);
  return { ...host, sync, log, ask, metric };
}

/** Starts the daemon of a host in this process. */
export async function launchHere(hosts: Hosts, name: string, options: HostOptions = {}): Promise<DaemonHere> {
  const url = new URL(options.databaseUrl ?? hosts.databaseUrl);
  const way = await startBlackHole('127.0.0.1', Number(url.port));
  onTestFinished(() => way.close());
  const host = openHost(hosts, name, { ...options, databaseUrl: way.lead(url.href) });
  await host.sync.start();
  const stop = async (): Promise<void> => {
    await host.sync[Symbol.asyncDispose]();
  };
  const kill = async (): Promise<void> => {
    await way.refuse();
    await stop();
    await way.heal();
  };
  return { ...host, stop, kill };
}
