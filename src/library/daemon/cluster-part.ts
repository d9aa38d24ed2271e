import type { BudgetState } from '../../cluster/budget.ts';
import { DatabaseError } from '../../cluster/database.ts';
import type { WishRow } from '../../cluster/membership.ts';
import type { ClusterConfig, Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { beatMs, type Fence } from '../../domain/lease.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import type { PlatformGate } from '../../platform/platform-gate.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateStore } from '../../state/state-store.ts';
import { approvalWords, rescanWords } from '../../words/asked.ts';
import { ClusterRun } from '../cluster/cluster-run.ts';
import type { ClusterObserver, ClusterSituation } from '../cluster/cluster-situation.ts';
import { HostBudget } from '../cluster/host-budget.ts';
import { HostHints, type HostHintsInput } from '../cluster/host-hints.ts';
import { HostReports, type HostReport } from '../cluster/host-reports.ts';
import { machineOf } from '../cluster/machine.ts';
import { demandLedger, openCluster, type Cluster } from '../cluster/open-cluster.ts';
import { mayGiveKeysOf, onlySourcesOf, type OwnUnit } from '../cluster/own-units.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import type { Clients } from '../platform/clients.ts';
import type { Stop } from '../stop.ts';
import { SyncError } from '../sync-error.ts';
import { version } from '../version.ts';
import { ClusterPeople, type ClusterPeopleInput } from './cluster-people.ts';
import type { DaemonNotifier } from './daemon-notifier.ts';
import type { Daemons } from './daemons.ts';
import type { ClusterPort, Wish, Wished } from './cluster-port.ts';

/** A unit that nobody holds is waited for so long at most, and looked at so often, milliseconds: somebody may be about to take it. */
const LONGEST_MOVE_MS = 4000;
const LOOK_AGAIN_MS = 100;

/** What a daemon's part in a cluster is made of. */
export interface ClusterPartInput extends Omit<
  ClusterPeopleInput,
  'situation' | 'share' | 'reports' | 'look' | 'wakeOthers'
> {
  readonly cluster: Cluster;
  readonly daemons: Daemons;
  readonly notifier: DaemonNotifier;
  /** Clients whose requests a fence may keep. */
  readonly clientsUnder: (fence: Fence) => Clients;
  /** What all requests to the platform pass. */
  readonly gate: PlatformGate;
  /** See `HostHintsInput`. */
  readonly onHints: HostHintsInput['onHints'];
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
export class ClusterPart implements ClusterPort {
  readonly #input: ClusterPartInput;
  readonly #run: ClusterRun;
  readonly #budget: HostBudget;
  readonly #hints: HostHints;
  readonly #reports: HostReports;
  readonly #people: ClusterPeople;

  constructor(input: ClusterPartInput) {
    const { cluster, config, platformName, daemons, observer, log, stop } = input;
    this.#input = input;
    this.#budget = new HostBudget(input);
    this.#hints = new HostHints({
      ...input,
      own: () => this.situation.own,
      daemonOf: (source) => daemons.of(source)?.daemon ?? null,
    });
    this.#reports = new HostReports(cluster.membership, systemClock.monotonic);
    this.#people = new ClusterPeople({
      ...input,
      situation: () => this.situation,
      share: () => this.share,
      reports: this.#reports,
      look: () => this.look(),
      wakeOthers: () => this.#run.wakeOthers(),
    });
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
        return first === undefined
          ? this.#people.summedUpMs
          : (daemons.of(first.name)?.daemon.settledUntilMs ?? null);
      },
      isQuiet: (own) => this.#isQuiet(own),
      isAtWork: ({ sources }) => sources.every(({ name }) => daemons.of(name) !== undefined),
      wished: (_, wish) => {
        this.#wished(wish);
      },
      announce: (wishes) => {
        this.#people.announce(wishes);
      },
      report: () => this.#people.report(),
    });
  }

  /** How this host's part stands. */
  get situation(): ClusterSituation {
    return this.#run.situation;
  }

  /** What hosts said of themselves when they were asked last, by the host's name. */
  get reports(): ReadonlyMap<string, HostReport> {
    return this.#reports.known;
  }

  /** Asks what the other hosts say of themselves. A database that is out of reach is not waited for. */
  async look(): Promise<void> {
    if (this.situation.trouble === null) await this.#reports.look();
  }

  /** Asks something of the host that syncs a source. */
  async wish({ kind, ...body }: Wish): Promise<Wished> {
    const { membership } = this.#input.cluster;
    try {
      const found = await this.#holderOf(body.source);
      if (found === null) return { kind: 'nobody' };
      await membership.wish(found.unit, kind, body);
      await this.#run.wakeOthers();
      return { kind: 'passed-on', host: found.host };
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      return { kind: 'failed', reason: error.message };
    }
  }

  /** Who syncs a source: what was seen last may be old, and a unit that moves is held by nobody for a moment. Throws `DatabaseError`. */
  async #holderOf(source: string): Promise<{ readonly unit: number; readonly host: string } | null> {
    const { cluster, config, stop } = this.#input;
    const { own, alive, view: last } = this.situation;
    const { host = null } = config().sources.find(({ name }) => name === source) ?? {};
    if (host !== null && !alive.some(({ name }) => name === host)) return null;
    const untilMs = systemClock.monotonic() + Math.min(LONGEST_MOVE_MS, 2 * beatMs(cluster.config.leaseMs));
    for (let view = last; ; view = await cluster.membership.look()) {
      const unit = view?.units.find(
        ({ id, sources, pinned }) =>
          pinned === host &&
          sources.some(({ name }) => name === source) &&
          (host !== null || own.some((one) => one.id === id)),
      );
      const holder = host ?? (unit === undefined || unit.holder === null ? null : unit.holderHost);
      if (unit !== undefined && holder !== null) return { unit: unit.id, host: holder };
      if (view === last) continue;
      const isForSomebody = unit !== undefined && alive.some(({ units }) => units.includes(unit.id));
      if (!isForSomebody || stop.stop.aborted || systemClock.monotonic() >= untilMs) return null;
      await systemClock.sleep(LOOK_AGAIN_MS, stop.stop);
    }
  }

  /** Whether other units of the ledger may give the keys of those that are pinned to this host: their hosts may have sent them. */
  get hasRivals(): boolean {
    const { own, view } = this.situation;
    return own.some(
      (mine) =>
        mine.isPinned && view?.units.some((other) => other.id !== mine.id && mayGiveKeysOf(mine, other)),
    );
  }

  /** The configuration with the sources that are this host's alone, and that nothing keeps from being synced. */
  pinned(): Config {
    return this.#only(this.#run.situation.pinned);
  }

  #only(units: readonly OwnUnit[]): Config {
    const { config, platformName } = this.#input;
    const now = config();
    return onlySourcesOf(units, now, platformName(now));
  }

  /** See `ClusterPeople.onDelivery`. */
  onDelivery(state: StateStore): ((delivery: Delivery) => void) | null {
    return this.#people.onDelivery(state);
  }

  /** The configuration changed. Resolves once people are told nothing any more where they are not to be told. */
  async reload(): Promise<void> {
    this.#run.reload();
    await this.#people.reload();
  }

  /** Takes part until it is stopped. */
  async run(): Promise<void> {
    try {
      await this.#budget.during(() =>
        this.#hints.during(() => this.#people.announcing(() => this.#run.run())),
      );
    } finally {
      await this.#input.cluster.close();
    }
  }

  /** This host's share of the budget, requests a second, to a tenth. */
  get share(): number {
    return Math.round(this.#budget.state.share * 10) / 10;
  }

  /** How this host's part of the budget stands. */
  get budget(): BudgetState {
    return this.#budget.state;
  }

  async #work(own: OwnUnit, worked: WorkedUnit): Promise<void> {
    if (isOfNotifications(own)) {
      await this.#people.tell(worked);
      return;
    }
    const { state, lease, stop, abort } = worked;
    const { daemons, clientsUnder } = this.#input;
    await daemons.run({
      othersSettledUntilMs: () => this.#run.othersSettledUntilMs(own),
      state,
      config: () => this.#only([own]),
      clients: () => clientsUnder(lease),
      onDelivery: () => this.#people.onDelivery(state),
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

  #wished({ kind, body }: WishRow): void {
    const { daemons, log } = this.#input;
    const { source, path = null } = body as { source: string; path?: string | null };
    const words =
      kind === 'approve'
        ? approvalWords(daemons.approve(source)).join(' ')
        : rescanWords(daemons.rescan(source, path), source, path);
    log.info(`another host asked for this: ${kind} ${source}`, { answer: words });
  }
}
