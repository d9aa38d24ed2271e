import { DatabaseError, type CommandRow } from '../../cluster/shared-ledger.ts';
import type { ClusterConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { beatMs } from '../../domain/lease.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../store/database.ts';
import { approvalWords, pruneWords, rescanWords } from '../../words/asked.ts';
import { ClusterRun } from '../cluster/cluster-run.ts';
import type { ClusterObserver } from '../cluster/held-units.ts';
import type { ClusterSituation } from '../cluster/cluster-situation.ts';
import { HostHints } from '../cluster/host-hints.ts';
import { HostReports } from '../cluster/host-reports.ts';
import type { HostReport, ClusterPort, HostCommand, CommandOutcome } from './cluster-facts.ts';
import { machineOf } from '../cluster/host-name.ts';
import { demandLedger, openCluster, wakeOthers, type ClusterHost } from '../cluster/open-cluster.ts';
import type { OwnUnit } from '../cluster/own-units.ts';
import { openUnitHolding } from '../cluster/unit-holding.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import type { Stop } from '../stop.ts';
import { isSeenBy } from '../seen-here.ts';
import { SyncError } from '../sync-error.ts';
import { pruneHere, whoSees } from './ask-hosts.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { DaemonPlatform } from './daemon-platform.ts';
import type { Daemons } from './daemons.ts';

/** Longest wait for a host to take a free unit, and the polling interval, milliseconds. */
const LONGEST_MOVE_MS = 4000;
const LOOK_AGAIN_MS = 100;

/** Minimum time between two new reports of this host, milliseconds. */
const REPORT_MS = 5000;

interface ClusterPartInput extends ClusterHost {
  readonly daemons: Daemons;
  /** Returns the status of the sources that this host syncs; `null`: unknown. */
  readonly sources: () => HostReport['sources'] | null;
  readonly platform: DaemonPlatform;
  readonly metrics: Metrics;
  /** See `ClusterObserver.stands`. */
  readonly stands: ClusterObserver['stands'];
  readonly stop: Stop;
}

/**
 * Opens a daemon's part in a cluster. An unreachable database is waited for later. Throws `SyncError` if the ledger is
 * unusable.
 */
export async function openDaemonCluster(
  loaded: LoadedConfig,
  config: ClusterConfig,
  env: NodeJS.ProcessEnv,
  input: Omit<ClusterPartInput, 'cluster' | 'clock'>,
): Promise<ClusterPart> {
  const cluster = openCluster(loaded, config, env);
  try {
    await demandLedger(cluster);
  } catch (error) {
    // The first beat reports an unreachable database.
    if (!(error instanceof SyncError) || error.code !== 'cluster') {
      await cluster.close();
      throw error;
    }
  }
  return new ClusterPart({ ...input, cluster, clock: systemClock });
}

/** A daemon's part in a cluster: runs a daemon for each unit that this host holds. */
export class ClusterPart implements ClusterPort {
  readonly #input: ClusterPartInput;
  readonly #run: ClusterRun;
  readonly #hints: HostHints;
  readonly #reports: HostReports;
  #reported: { readonly text: string | null; readonly atMs: number } | null = null;

  constructor(input: ClusterPartInput) {
    const { cluster, config, platformName, clock, daemons, platform, stands, log, stop } = input;
    this.#input = input;
    const metrics = input.metrics.joinCluster(() => {
      const { held, isDatabaseUp } = this.situation;
      return { unitsHeld: held.length, isDatabaseUp };
    });
    this.#hints = new HostHints({
      ...input,
      onHints: (direction, count) => {
        metrics.hinted(direction, count);
      },
      own: () => this.situation.own,
      daemonOf: (source) => daemons.of(source)?.daemon ?? null,
    });
    this.#reports = new HostReports(cluster.membership, systemClock.monotonic);
    this.#run = new ClusterRun({
      ...{ cluster, config, platformName, clock, log, ...stop },
      pauses: platform,
      observer: {
        stands,
        shipped: (seconds) => {
          metrics.shipped(seconds);
        },
        taken: (from) => {
          // A unit that another process of this host held is not a takeover.
          if (from !== null && from !== cluster.config.host) metrics.tookOver();
        },
        ended: ({ kind }) => {
          if (kind === 'lost') metrics.lost();
        },
      },
      machine: machineOf(config().stateFile),
      work: (own, worked) => this.#work(own, worked),
      settledUntilMs: ({ sources: [first] }) =>
        first === undefined ? null : (daemons.of(first.name)?.daemon.settledUntilMs ?? null),
      isAtWork: ({ sources }) => sources.every(({ name }) => daemons.of(name) !== undefined),
      carryOut: (_, command) => {
        this.#carryOut(command);
      },
      report: () => this.#report(),
    });
  }

  get situation(): ClusterSituation {
    return this.#run.situation;
  }

  /** The last known reports, by host name. */
  get reports(): ReadonlyMap<string, HostReport> {
    return this.#reports.known;
  }

  /** Fetches the reports of the hosts, unless this host cannot take part. */
  async look(): Promise<void> {
    if (this.situation.trouble === null) await this.#reports.look();
  }

  /** Passes a command to the host that syncs its source. */
  async command({ kind, ...body }: HostCommand): Promise<CommandOutcome> {
    const { cluster } = this.#input;
    try {
      const found = await this.#holderOf(body.source);
      if (found === null) return { kind: 'nobody' };
      await cluster.membership.addCommand(found.unit, kind, body);
      await wakeOthers(cluster);
      return { kind: 'passed-on', host: found.host };
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      return { kind: 'failed', reason: error.message };
    }
  }

  /**
   * Returns the holder of a source. Looks again where the last view has none: it may be old, and a unit that moves has
   * no holder for a moment. Throws `DatabaseError`.
   */
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

  /** Applies a changed configuration. */
  reload(): void {
    this.#run.reload();
  }

  /** Takes part until stopped. */
  async run(): Promise<void> {
    try {
      await this.#hints.during(() => this.#run.run());
    } finally {
      await this.#input.cluster.close();
    }
  }

  async #work(own: OwnUnit, worked: WorkedUnit): Promise<void> {
    const { platform, daemons } = this.#input;
    const holding = await openUnitHolding(own, worked, {
      ...this.#input,
      clientsUnder: (fence) => platform.access.clientsUnder(fence),
      othersSettledUntilMs: () => this.#run.othersSettledUntilMs(own),
    });
    await daemons.run(holding);
  }

  /** Returns this host's report to other hosts, as JSON; `null`: nothing is known. */
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
      // Damaged records of a unit must not end the beats: the daemon of the unit meets the error itself.
      if (!(error instanceof StateFileError)) throw error;
      return null;
    }
  }

  #carryOut({ kind, body }: CommandRow): void {
    const { daemons, log } = this.#input;
    const { source, path = null, halt = null, glob = null, digest = '' } = body as CommandBody;
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

/** The body of a command of any kind. */
interface CommandBody {
  readonly source: string;
  readonly path?: string | null;
  readonly halt?: string | null;
  readonly glob?: string | null;
  readonly digest?: string;
}
