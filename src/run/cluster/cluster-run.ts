import { DatabaseError, type ClusterView, type HostNews } from '../../cluster/shared-ledger.ts';
import type { Hindrance } from '../../domain/hindrance.ts';
import { beatMs, momentOf } from '../../domain/lease.ts';
import { Bell } from '../../service/bell.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { STATE_VERSION } from '../../store/schema.ts';
import { SyncError } from '../sync-error.ts';
import { version } from '../version.ts';
import { carryOutCommands, type CommandInput } from './carry-out-commands.ts';
import type { ClusterSituation } from './cluster-situation.ts';
import { DeclaredUnits, type OwnUnit } from './own-units.ts';
import { HeldUnits, type UnitWork } from './held-units.ts';
import { HostName } from './host-name.ts';
import { OtherHosts } from './other-hosts.ts';
import { patienceMs, wakeOthers } from './open-cluster.ts';
import { UnitDecisions } from './unit-decisions.ts';
import { DirectoryChecks } from './directory-checks.ts';
import type { Visited, VisitedCluster } from './visit.ts';

/** Timers may fire this early, milliseconds. */
const TIMER_MS = 5;

interface ClusterRunInput extends UnitWork, Pick<CommandInput, 'isAtWork' | 'carryOut'> {
  /** See `machineOf`. */
  readonly machine: string;
  /** Returns until when all changes of a unit are on the platform, epoch milliseconds; `null`: unknown. */
  readonly settledUntilMs: (unit: OwnUnit) => number | null;
  /** Returns the report of this host's sources for other hosts, as JSON. */
  readonly report: () => string | null;
  /** Pauses that the platform asked for apply to all hosts. Milliseconds from now. */
  readonly pauses: { readonly askedForMs: () => number; readonly pause: (ms: number) => void };
}

/** Runs this host's part in a cluster: sends beats, takes units and releases them. */
export class ClusterRun {
  readonly #input: ClusterRunInput;
  readonly #name: HostName;
  readonly #otherHosts: OtherHosts;
  readonly #declared: DeclaredUnits;
  readonly #held: HeldUnits;
  readonly #directoryChecks: DirectoryChecks;
  readonly #decisions: UnitDecisions;
  readonly #bell = new Bell();
  #trouble: string | null = null;
  /** The trouble reported last; `undefined`: nothing was reported. */
  #told: string | null | undefined;

  constructor(input: ClusterRunInput) {
    const { cluster, clock } = input;
    const otherHosts = new OtherHosts(cluster.config.host, cluster.config.leaseMs, clock.monotonic);
    const name = new HostName({ ...input, otherHosts });
    const declared = new DeclaredUnits(input);
    const held = new HeldUnits({ ...input, name, otherHosts, left: this.hurry });
    const directoryChecks = new DirectoryChecks(input);
    this.#input = input;
    this.#otherHosts = otherHosts;
    this.#name = name;
    this.#declared = declared;
    this.#held = held;
    this.#directoryChecks = directoryChecks;
    this.#decisions = new UnitDecisions({ ...input, name, otherHosts, declared, directoryChecks, held });
  }

  get situation(): ClusterSituation {
    return {
      host: this.#host,
      trouble: this.#whyNot,
      isDatabaseUp: this.#trouble === null && this.#otherHosts.view !== null,
      view: this.#otherHosts.view,
      alive: this.#otherHosts.alive,
      held: this.#held.names,
      sources: this.#input.config().sources,
      own: this.#declared.all,
      blocked: this.#decisions.blocked,
      hindrances: this.#hindrances,
      failed: this.#held.failures,
    };
  }

  get #whyNot(): string | null {
    return this.#name.isAnothers
      ? `another host of the cluster is named "${this.#host}"; set cluster.host on one of them`
      : this.#trouble;
  }

  /** Sends the next beat at once. */
  readonly hurry = (): void => {
    this.#bell.ring();
  };

  /** Declares the units again after the configuration changed. */
  reload(): void {
    this.#declared.forget();
    this.#bell.ring();
  }

  /** Takes part until stopped and until no unit is held. */
  async run(): Promise<void> {
    const { stop, abort, cluster, clock } = this.#input;
    const listening = new AbortController();
    const ringing = cluster.messages.onWake(
      this.hurry,
      (signal) => clock.sleep(this.#beatMs, signal),
      listening.signal,
    );
    const { signal } = listening;
    const breakOff = (): void => {
      this.#held.lose();
    };
    const letGo = (): void => {
      this.#held.release();
      this.#bell.ring();
    };
    abort.addEventListener('abort', breakOff, { signal });
    stop.addEventListener('abort', letGo, { signal });
    const never = new AbortController().signal;
    try {
      while (!this.#isLeaving() || !this.#held.isEmpty) {
        await this.#turn();
        this.#held.demandSound();
        this.#tellStanding();
        if (this.#isLeaving() && this.#held.isEmpty) break;
        // Wakes up when the next lease runs out, so that its unit is taken without waiting for the next beat.
        const staleMs = this.#otherHosts.untilStaleMs(this.#name.instance) + TIMER_MS;
        await this.#bell.wait(clock, Math.min(this.#beatMs, staleMs), stop.aborted ? never : stop);
      }
      await this.#held.idle();
      this.#held.demandSound();
      const { instance } = this.#name;
      await cluster.membership.leave({ name: this.#host, instance }).catch(() => undefined);
      await wakeOthers(cluster);
    } finally {
      // After a defect, units may still be held. The caller goes on to close the database and gives up this host's
      // name.
      this.#held.lose();
      await this.#held.idle();
      listening.abort();
      await ringing;
    }
  }

  /** Returns how the visit went for each unit; `null`: not known yet. */
  get visited(): ReadonlyMap<string, Visited | null> {
    return this.#input.visit?.outcome(this.#visitedCluster) ?? new Map<string, never>();
  }

  /** See `OtherHosts.othersSettledUntilMs`. */
  othersSettledUntilMs(own: OwnUnit): number {
    return this.#otherHosts.othersSettledUntilMs(own);
  }

  get #visitedCluster(): VisitedCluster {
    const { units: rows = [], hosts = [] } = this.#otherHosts.view ?? {};
    const leftTo = (own: OwnUnit): string | null => this.#decisions.leftTo(own);
    return { own: this.#declared.all, rows, hosts, leftTo, blocked: this.#decisions.blocked };
  }

  /** Returns whether this host takes no more units. */
  #isLeaving(): boolean {
    const { stop, visit } = this.#input;
    if (stop.aborted || visit === undefined) return stop.aborted;
    // A visit does not wait for an unreachable database, and only for a limited time for its name.
    if (this.#trouble !== null || this.#name.isMissedForLong) return true;
    return this.#name.isOurs && visit.isOver(this.#visitedCluster);
  }

  get #host(): string {
    return this.#input.cluster.config.host;
  }

  get #beatMs(): number {
    return beatMs(this.#input.cluster.config.leaseMs);
  }

  #tellStanding(): void {
    const trouble = this.#whyNot;
    if (trouble === this.#told) return;
    this.#told = trouble;
    this.#input.observer?.stands(trouble);
  }

  /** Sends a beat and acts on the answer. */
  async #turn(): Promise<void> {
    const { log } = this.#input;
    try {
      await this.#beat();
      if (this.#trouble !== null) log.info('the database is reachable again');
      this.#trouble = null;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const trouble = `the database of the cluster ${error.kind === 'unreachable' ? 'cannot be reached' : 'refuses'}: ${error.message}`;
      if (this.#trouble === null) log.warn(`${trouble}; botsync retries`);
      this.#trouble = trouble;
    }
  }

  async #beat(): Promise<void> {
    const { cluster, clock, visit, pauses } = this.#input;
    const unchanged = await this.#declared.declare();
    if (unchanged !== null) this.#held.renew(unchanged);
    const { units: rows = [] } = this.#otherHosts.view ?? {};
    const stateOf = (id: number): StateReader | null => this.#held.get(id)?.state ?? null;
    await this.#directoryChecks.look(this.#declared.all, rows, stateOf, this.#beatMs / 2);
    const news = this.#news();
    if (!this.#name.isOurs && !(await this.#name.take(news))) return;
    const held = this.#held.toProve;
    const sentAt = momentOf(clock);
    const view = await cluster.membership.beat(
      news,
      held.map(({ unit: { grant } }) => ({
        ...{ unit: grant.unit, epoch: grant.epoch },
        settledAgeMs: this.#settledAgeMs(grant.unit),
      })),
    );
    if (!view.isKnown) this.#name.lose();
    this.#held.note(held, view, sentAt);
    if (!this.#declared.check(view)) this.#bell.ring();
    this.#otherHosts.note(view, sentAt.wallMs);
    for (const { name, pausedForMs } of view.hosts)
      if (name !== this.#host && pausedForMs > 0) pauses.pause(pausedForMs);
    visit?.note(view);
    this.#checkVersion(view);
    await this.#settle(view);
  }

  get #hindrances(): readonly Hindrance[] {
    return [...this.#declared.differing, ...this.#directoryChecks.hindrances];
  }

  #news(): HostNews {
    const { report, stop, visit, pauses } = this.#input;
    const taken = this.#declared.all.filter(({ id }) => !this.#held.avoids(id));
    return {
      name: this.#host,
      instance: this.#name.instance,
      isVisitor: visit !== undefined,
      version: version(),
      units: stop.aborted ? [] : taken.map(({ id }) => id),
      hindrances: this.#hindrances,
      report: report(),
      pausedForMs: Math.ceil(pauses.askedForMs()),
    };
  }

  #settledAgeMs(id: number): number | null {
    const { clock, cluster, settledUntilMs } = this.#input;
    const own = this.#declared.find(id);
    const untilMs = own === undefined ? null : settledUntilMs(own);
    // The database counts the age from when it receives it.
    return untilMs === null
      ? null
      : Math.max(0, Math.round(clock.now() - untilMs)) + patienceMs(cluster.config);
  }

  /**
   * Releases all units if another host brought the ledger to a newer version. Throws `SyncError` once no unit is held.
   */
  #checkVersion({ version, stateVersion }: ClusterView): void {
    const { tables } = this.#input.cluster;
    if (version <= tables.version && stateVersion <= STATE_VERSION) return;
    this.#decisions.takeNone();
    this.#held.release();
    if (!this.#held.isEmpty) return;
    throw new SyncError('configuration', {
      place: 'the ledger of the cluster',
      reason: 'is of a newer version of botsync',
      fix: 'install that version on this host',
    });
  }

  /** Takes and releases units as decided, and carries out commands. */
  async #settle(view: ClusterView): Promise<void> {
    const { cluster, visit, log, isAtWork, carryOut } = this.#input;
    this.#decisions.look(view);
    for (const row of this.#decisions.abandoned(view)) await this.#held.free(row);
    for (const own of this.#declared.all) {
      const row = view.units.find(({ id }) => id === own.id);
      if (row === undefined) continue;
      switch (this.#decisions.about(own, row)) {
        case 'take':
          await this.#held.claim(own, row);
          break;
        case 'release':
          this.#held.get(own.id)?.release();
          break;
        case 'leave':
      }
    }
    if (visit !== undefined) return;
    const { membership } = cluster;
    const [declared, held] = [this.#declared, this.#held];
    if (await this.#decisions.askForFairShare(view)) await wakeOthers(cluster);
    await carryOutCommands(view.commands, { membership, declared, held, log, isAtWork, carryOut });
  }
}
