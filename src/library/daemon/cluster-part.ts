import { DatabaseError } from '../../cluster/database.ts';
import type { WishRow } from '../../cluster/membership.ts';
import type { ClusterConfig, Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { beatMs, type Fence } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../store/database.ts';
import { approvalWords, pruneWords, rescanWords } from '../../words/asked.ts';
import { ClusterRun, type ClusterRunInput } from '../cluster/cluster-run.ts';
import type { ClusterObserver, ClusterSituation } from '../cluster/cluster-situation.ts';
import { HostHints, type HostHintsInput } from '../cluster/host-hints.ts';
import { HostReports, type HostReport } from '../cluster/host-reports.ts';
import { machineOf } from '../cluster/machine.ts';
import { demandLedger, openCluster, type Cluster } from '../cluster/open-cluster.ts';
import type { OwnUnit } from '../cluster/own-units.ts';
import { openUnitHolding } from '../cluster/unit-holding.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import type { Clients } from '../platform/clients.ts';
import type { Stop } from '../stop.ts';
import { isSeenBy } from '../seen-here.ts';
import { SyncError } from '../sync-error.ts';
import { version } from '../version.ts';
import { pruneHere, whoSees } from './ask-hosts.ts';
import type { Daemons } from './daemons.ts';
import type { ClusterPort, Wish, Wished } from './cluster-port.ts';

/** A unit that nobody holds is waited for so long at most, and looked at so often, milliseconds: somebody may be about to take it. */
const LONGEST_MOVE_MS = 4000;
const LOOK_AGAIN_MS = 100;

/** A host says something new of itself no sooner than after so long, milliseconds. */
const REPORT_MS = 5000;

/** What a daemon's part in a cluster is made of. */
export interface ClusterPartInput {
  readonly cluster: Cluster;
  /** The configuration of now. */
  readonly config: () => Config;
  readonly platformName: (config: Config) => string;
  readonly daemons: Daemons;
  /** How the sources that this host syncs stand; `null`: that is not known. */
  readonly sources: () => HostReport['sources'] | null;
  /** Clients whose requests a fence may keep. */
  readonly clientsUnder: (fence: Fence) => Clients;
  readonly pauses: ClusterRunInput['pauses'];
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
  readonly #hints: HostHints;
  readonly #reports: HostReports;
  #reported: { readonly text: string | null; readonly atMs: number } | null = null;

  constructor(input: ClusterPartInput) {
    const { cluster, config, platformName, daemons, pauses, observer, log, stop } = input;
    this.#input = input;
    this.#hints = new HostHints({
      ...input,
      own: () => this.situation.own,
      daemonOf: (source) => daemons.of(source)?.daemon ?? null,
    });
    this.#reports = new HostReports(cluster.membership, systemClock.monotonic);
    this.#run = new ClusterRun({
      ...{ cluster, config, platformName, pauses, observer, log },
      ...stop,
      stateFile: config().stateFile,
      clock: systemClock,
      machine: machineOf(config().stateFile),
      version: version(),
      work: (own, worked) => this.#work(own, worked),
      settledUntilMs: ({ sources: [first] }) =>
        first === undefined ? null : (daemons.of(first.name)?.daemon.settledUntilMs ?? null),
      isAtWork: ({ sources }) => sources.every(({ name }) => daemons.of(name) !== undefined),
      wished: (_, wish) => {
        this.#wished(wish);
      },
      report: () => this.#report(),
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
    const { cluster, stop } = this.#input;
    const { own, alive, view: last } = this.situation;
    const untilMs = systemClock.monotonic() + Math.min(LONGEST_MOVE_MS, 2 * beatMs(cluster.config.leaseMs));
    for (let view = last; ; view = await cluster.membership.look()) {
      const unit = view?.units.find(
        ({ id, holder, sources }) =>
          sources.some(({ name }) => name === source) &&
          (holder !== null || own.some((one) => one.id === id)),
      );
      const holder = unit === undefined || unit.holder === null ? null : unit.holderHost;
      if (unit !== undefined && holder !== null) return { unit: unit.id, host: holder };
      if (view === last) continue;
      const isForSomebody = unit !== undefined && alive.some(({ units }) => units.includes(unit.id));
      if (!isForSomebody || stop.stop.aborted || systemClock.monotonic() >= untilMs) return null;
      await systemClock.sleep(LOOK_AGAIN_MS, stop.stop);
    }
  }

  /** The configuration changed. */
  reload(): void {
    this.#run.reload();
  }

  /** Takes part until it is stopped. */
  async run(): Promise<void> {
    try {
      await this.#hints.during(() => this.#run.run());
    } finally {
      await this.#input.cluster.close();
    }
  }

  async #work(own: OwnUnit, worked: WorkedUnit): Promise<void> {
    const othersSettledUntilMs = (): number => this.#run.othersSettledUntilMs(own);
    const holding = await openUnitHolding(own, worked, { ...this.#input, othersSettledUntilMs });
    await this.#input.daemons.run(holding);
  }

  /** What this host says of itself to the others, JSON; `null`: nothing is known. */
  #report(): string | null {
    const nowMs = systemClock.monotonic();
    if (this.#reported === null || nowMs - this.#reported.atMs >= REPORT_MS)
      this.#reported = { text: this.#newReport(), atMs: nowMs };
    return this.#reported.text;
  }

  #newReport(): string | null {
    try {
      const sources = this.#input.sources();
      const report: HostReport | null = sources && { sources, refusal: this.#input.daemons.refusal };
      return report && JSON.stringify(report);
    } catch (error) {
      // No beat ends by what is wrong with the records of a unit: whoever works on it meets that.
      if (!(error instanceof StateFileError)) throw error;
      return null;
    }
  }

  #wished({ kind, body }: WishRow): void {
    const { daemons, log } = this.#input;
    const { source, path = null, halt = null, glob = null, digest = '' } = body as WishBody;
    const seeing = whoSees(this.situation, source);
    const answer = (): string => {
      if (seeing !== null && kind !== 'rescan') return isSeenBy(seeing);
      switch (kind) {
        case 'approve':
          return approvalWords(daemons.approve(source, halt)).join(' ');
        case 'prune':
          return pruneWords(pruneHere(daemons, { source, glob, digest }), source);
        case 'repair':
          daemons.of(source)?.daemon.repair();
          return 'All files are compared with those of the bots.';
        default:
          return rescanWords(daemons.rescan(source, path), source, path);
      }
    };
    log.info(`another host asked for this: ${kind} ${source}`, { answer: answer() });
  }
}

/** What a wish of any kind may say. */
interface WishBody {
  readonly source: string;
  readonly path?: string | null;
  readonly halt?: string | null;
  readonly glob?: string | null;
  readonly digest?: string;
}
