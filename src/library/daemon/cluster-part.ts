import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { WishRow } from '../../cluster/membership.ts';
import type { ClusterConfig, Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { Fence } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import { approvalWords, rescanWords } from '../../words/asked.ts';
import { ClusterRun, type ClusterObserver, type ClusterSituation } from '../cluster/cluster-run.ts';
import { demandLedger, openCluster, type Cluster } from '../cluster/open-cluster.ts';
import type { OwnUnit } from '../cluster/own-units.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import type { Clients } from '../platform/clients.ts';
import type { Stop } from '../stop.ts';
import { SyncError } from '../sync-error.ts';
import { version } from '../version.ts';
import type { Daemons } from './daemons.ts';

/** What is told of a host's sources stays so for so long, milliseconds. */
const REPORT_MS = 5000;

/** What a daemon's part in a cluster is made of. */
export interface ClusterPartInput {
  readonly cluster: Cluster;
  readonly config: () => Config;
  readonly platformName: (config: Config) => string;
  readonly daemons: Daemons;
  /** Clients whose requests a fence may keep. */
  readonly clientsUnder: (fence: Fence) => Clients;
  /** What the sources of this host look like; JSON. */
  readonly report: () => string | null;
  readonly observer: ClusterObserver;
  readonly log: Log;
  readonly stop: Stop;
}

/**
 * Opens a daemon's part in a cluster. Throws `SyncError` where the ledger is not for us; a database that cannot be reached just
 * now is waited for.
 */
export async function openDaemonCluster(
  loaded: LoadedConfig,
  config: ClusterConfig,
  env: NodeJS.ProcessEnv,
  input: Omit<ClusterPartInput, 'cluster'>,
): Promise<ClusterPart> {
  const cluster = openCluster(loaded, config, env);
  try {
    await demandLedger(cluster);
  } catch (error) {
    // The first beat tells of it.
    if (!(error instanceof SyncError) || error.code !== 'cluster') {
      await cluster.close();
      throw error;
    }
  }
  return new ClusterPart({ ...input, cluster });
}

/** A daemon's part in a cluster: a daemon for each unit that this host holds. */
export class ClusterPart {
  readonly #input: ClusterPartInput;
  readonly #run: ClusterRun;
  #reported: { readonly text: string | null; readonly atMs: number } | null = null;

  constructor(input: ClusterPartInput) {
    const { cluster, config, platformName, daemons, observer, log, stop } = input;
    this.#input = input;
    this.#run = new ClusterRun({
      ...{ cluster, config, platformName, observer, log },
      ...stop,
      stateFile: config().stateFile,
      clock: systemClock,
      machine: machineOf(config().stateFile),
      version: version(),
      work: (own, worked) => this.#work(own, worked),
      settledUntilMs: ({ sources }) => {
        const [first] = sources;
        return first === undefined ? null : (daemons.of(first.name)?.daemon.settledUntilMs ?? null);
      },
      isQuiet: (own) => this.#isQuiet(own),
      wished: (own, wish) => {
        this.#wished(own, wish);
      },
      report: () => this.#report(),
    });
  }

  /** How this host's part stands. */
  get situation(): ClusterSituation {
    return this.#run.situation;
  }

  /** The configuration with the sources that are this host's alone, and that nothing keeps from being synced. */
  pinned(): Config {
    const config = this.#input.config();
    const { host, blocked } = this.#run.situation;
    const isBlocked = (name: string): boolean =>
      [...blocked.keys()].some((unit) => sourcesIn(unit).includes(name));
    return { ...config, sources: config.sources.filter((one) => one.host === host && !isBlocked(one.name)) };
  }

  /** The configuration changed. */
  reload(): void {
    this.#run.reload();
  }

  /** Takes part until it is stopped. */
  run(): Promise<void> {
    return this.#run.run();
  }

  async #work(own: OwnUnit, { state, lease, stop, abort }: WorkedUnit): Promise<void> {
    const { daemons, config, clientsUnder } = this.#input;
    const names = new Set(own.sources.map(({ name }) => name));
    await daemons.run({
      othersSettledUntilMs: () => this.#run.othersSettledUntilMs(own),
      state,
      config: () => {
        const now = config();
        return { ...now, sources: now.sources.filter(({ name }) => names.has(name)) };
      },
      clients: () => clientsUnder(lease),
      checkInPlace: () => {
        state.checkInPlace();
      },
      stop,
      abort,
    });
  }

  #isQuiet({ sources }: OwnUnit): boolean {
    const { daemons } = this.#input;
    return sources.every(({ name }) => {
      const activity = daemons.of(name)?.daemon.activity;
      return activity?.activity === 'watching' && activity.queued + activity.sending === 0;
    });
  }

  #wished({ name }: OwnUnit, { kind, body }: WishRow): void {
    const { daemons, log } = this.#input;
    const { source = null, path = null } = body as { source?: string | null; path?: string | null };
    const words =
      kind === 'approve'
        ? approvalWords(daemons.approve(source)).join(' ')
        : rescanWords(daemons.rescan(source, path), source, path);
    log.info(`another host asked for this: ${kind} ${source ?? name}`, { answer: words });
  }

  #report(): string | null {
    const nowMs = systemClock.monotonic();
    if (this.#reported === null || nowMs - this.#reported.atMs >= REPORT_MS)
      this.#reported = { text: this.#input.report(), atMs: nowMs };
    return this.#reported.text;
  }
}

/** The names of sources in the name of a pinned unit. */
function sourcesIn(unit: string): string[] {
  return (unit.split('@')[0] ?? '').split('+');
}

/** Tells a machine and a state file on it from all others, as far as that can be told. */
export function machineOf(stateFile: string): string {
  const parts = [hostname(), textOf('/etc/machine-id'), stateFile, inodeOf(dirname(stateFile))];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function inodeOf(directory: string): string {
  const facts = statSync(directory, { throwIfNoEntry: false });
  return facts === undefined ? '' : `${facts.dev}:${facts.ino}`;
}
