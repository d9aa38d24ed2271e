import type { DaemonActivity } from '../../sync/events.ts';
import type { Config } from '../../config/config.ts';
import { type RequestObserver, observed, observedCatalog } from '../../service/observed-platform.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { Approval, AskedPause, AskedPrune, AskedRescan } from '../../domain/status.ts';
import type { WantedPrune } from '../../sync/daemon/asked.ts';
import { Daemon } from '../../sync/daemon/daemon.ts';
import type { SyncServices, SyncSettings } from '../../sync/pass/sync-context.ts';
import type { Holding } from '../holding.ts';
import type { DaemonNotifier } from './daemon-notifier.ts';

/** A daemon at work, with what it works on. */
export interface RunningDaemon {
  readonly daemon: Daemon;
  /** With only the daemon's sources. */
  readonly config: Config;
  readonly state: StateStore;
}

interface SharedByDaemons extends Pick<SyncServices, 'emit' | 'stages' | 'howToApprove'> {
  readonly requests: RequestObserver;
  readonly notifier: DaemonNotifier;
  /** Returns the name of the platform in records. */
  readonly platformName: (config: Config) => string;
}

interface Entry extends RunningDaemon {
  readonly holding: Holding;
  config: Config;
}

/** All daemons of a process: usually one, in a cluster one per unit that this host holds. */
export class Daemons {
  readonly #shared: SharedByDaemons;
  #running: readonly Entry[] = [];

  constructor(shared: SharedByDaemons) {
    this.#shared = shared;
  }

  get running(): readonly RunningDaemon[] {
    return this.#running;
  }

  /** Runs a daemon until it is stopped. Throws `StateFileError`. */
  async run(holding: Holding): Promise<void> {
    const { emit, stages, howToApprove, notifier } = this.#shared;
    const { state, unit, checkInPlace, othersSettledUntilMs, stop, abort } = holding;
    const config = holding.config();
    const daemon = new Daemon(this.#settings(config, holding), {
      ...{ state, checkInPlace, othersSettledUntilMs, stop, abort, emit, stages, howToApprove },
      clock: systemClock,
      random: Math.random,
    });
    const entry: Entry = { daemon, config, state, holding };
    this.#running = [...this.#running, entry];
    try {
      notifier.attach({ daemon, state, unit, config: () => entry.config });
      await daemon.run();
    } finally {
      await notifier.detach(state);
      this.#running = this.#running.filter((other) => other !== entry);
    }
  }

  /**
   * Applies the current configuration to all daemons. `whenSettled` resolves once nothing runs under the previous one.
   */
  async reload(): Promise<{ readonly whenSettled: Promise<void> }> {
    const reloading = this.#running.map((entry) => {
      entry.config = entry.holding.config();
      return entry.daemon.reload(this.#settings(entry.config, entry.holding));
    });
    const reloaded = await Promise.all(reloading);
    return { whenSettled: Promise.all(reloaded.map(({ whenSettled }) => whenSettled)).then(() => undefined) };
  }

  /** Returns the daemon that syncs a source. */
  of(source: string): RunningDaemon | undefined {
    return this.#running.find(({ config }) => config.sources.some(({ name }) => name === source));
  }

  /** See `Daemon.approve`. */
  approve(source: string | null, digest: string | null): Approval {
    const all = this.#running.map(({ daemon }) => daemon.approve(source, digest));
    return {
      approved: all.flatMap(({ approved }) => approved),
      missing: all.flatMap(({ missing }) => missing),
      changed: all.flatMap(({ changed }) => changed),
    };
  }

  /** See `Daemon.rescan`. */
  rescan(source: string | null, path: string | null): AskedRescan {
    if (source !== null) return this.of(source)?.daemon.rescan(source, path) ?? { kind: 'unknown-source' };
    for (const { daemon } of this.#running) daemon.rescan(null, null);
    return { kind: 'pass' };
  }

  /** See `Daemon.prune`. */
  prune(wanted: WantedPrune): AskedPrune {
    return this.of(wanted.source)?.daemon.prune(wanted) ?? { kind: 'unknown-source' };
  }

  /** See `Daemon.pause`. Resolves once it is on disk; `null`: no daemon runs yet. */
  async pause(untilMs: number | null): Promise<AskedPause | null> {
    const [own] = this.#running;
    const paused = own?.daemon.pause(untilMs) ?? null;
    await own?.state.settled();
    return paused;
  }

  /** See `Daemon.resume`. Resolves once it is on disk; `null`: no daemon runs yet. */
  async resume(): Promise<boolean | null> {
    const [own] = this.#running;
    const isResumed = own?.daemon.resume() ?? null;
    await own?.state.settled();
    return isResumed;
  }

  get impediments(): string[] {
    return [...new Set(this.#running.flatMap(({ daemon }) => daemon.impediments))];
  }

  get refusal(): string | null {
    return firstOf(this.#running, ({ daemon }) => daemon.refusal);
  }

  get unconfirmed(): number {
    return this.#running.reduce((sum, { daemon }) => sum + daemon.unconfirmed, 0);
  }

  get watchedDirectories(): ReadonlyMap<string, number> {
    return new Map(this.#running.flatMap(({ daemon }) => [...daemon.watchedDirectories]));
  }

  get activity(): DaemonActivity {
    return allTogether(this.#running.map(({ daemon }) => daemon.activity));
  }

  #settings(config: Config, { state, clients: clientsNow }: Holding): SyncSettings {
    const { requests, platformName, notifier } = this.#shared;
    const clients = clientsNow();
    const catalog = clients.catalog();
    return {
      config,
      platformName: platformName(config),
      platform: observed(clients.files(), requests),
      catalog: catalog && observedCatalog(catalog, requests),
      ...(notifier.announces && {
        onDelivery: (delivery) => {
          notifier.delivered(state, delivery);
        },
      }),
    };
  }
}

/** Combines the activities of several daemons into one. Without daemons there is nothing to do. */
function allTogether(all: readonly DaemonActivity[]): DaemonActivity {
  const sum = (count: (one: DaemonActivity) => number): number =>
    all.reduce((total, one) => total + count(one), 0);
  return {
    activity: ACTIVITIES.find((kind) => all.some(({ activity }) => activity === kind)) ?? 'watching',
    isFirstPassOver: all.every(({ isFirstPassOver }) => isFirstPassOver),
    watchedDirectories: sum((one) => one.watchedDirectories),
    queued: sum((one) => one.queued),
    sending: sum((one) => one.sending),
    platformOutOfReach: all.some(({ platformOutOfReach }) => platformOutOfReach),
    outage: firstOf(all, ({ outage }) => outage),
    refusal: firstOf(all, ({ refusal }) => refusal),
    shortage: firstOf(all, ({ shortage }) => shortage),
    blocked: firstOf(all, ({ blocked }) => blocked),
    pause: firstOf(all, ({ pause }) => pause),
    nextPass: earliest(all.map(({ nextPass }) => nextPass)),
    failedAgain: earliest(all.map(({ failedAgain }) => failedAgain)),
    renewalsAgain: earliest(all.map(({ renewalsAgain }) => renewalsAgain)),
  };
}

/** The first of these that any daemon does is the combined activity. */
const ACTIVITIES = ['pass', 'starting'] as const;

/** Returns the earliest of some moments (ISO 8601); `null`: now. */
function earliest(moments: readonly (string | null)[]): string | null {
  const known = moments.filter((moment) => moment !== null);
  return known.length < moments.length ? null : (known.sort()[0] ?? null);
}

function firstOf<T, R>(all: readonly T[], of: (one: T) => R | null): R | null {
  for (const one of all) {
    const found = of(one);
    if (found !== null) return found;
  }
  return null;
}
