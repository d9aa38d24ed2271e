import { DatabaseError } from '../../cluster/database.ts';
import type { ClusterView, HostNews, UnitRow, WishRow } from '../../cluster/membership.ts';
import { LEDGER_VERSION } from '../../cluster/schema.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import { beatMs, momentOf } from '../../domain/lease.ts';
import { Bell } from '../../service/bell.ts';
import { STATE_VERSION } from '../../state/schema.ts';
import { SyncError } from '../sync-error.ts';
import { carryOutWishes, type WishInput } from './carry-out-wishes.ts';
import type { ClusterObserver, ClusterSituation } from './cluster-situation.ts';
import { DeclaredUnits, type DeclaredUnitsInput } from './declared-units.ts';
import { HeldUnits, type UnitWork } from './held-units.ts';
import { HostName } from './host-name.ts';
import { Neighbours } from './neighbours.ts';
import { patienceMs } from './open-cluster.ts';
import { digestOf, overlapOf, type OwnUnit } from './own-units.ts';
import { UnitDecisions } from './unit-decisions.ts';
import type { Sight, Visited } from './visit.ts';
import { channelOf, wakeHosts } from './wake-hosts.ts';

/** Timers may fire so much early, milliseconds. */
const TIMER_MS = 5;

/** What a host's part in a cluster is made of. */
export interface ClusterRunInput extends UnitWork, DeclaredUnitsInput {
  /** Tells this machine and its state file from all others: a process that ended there cannot come back. */
  readonly machine: string;
  readonly version: string;
  /** All of a unit that was there by then is on the platform, epoch milliseconds; `null`: that is not known. */
  readonly settledUntilMs: (unit: OwnUnit) => number | null;
  /** Whether a unit has nothing under way just now, so that it may move. */
  readonly isQuiet: (unit: OwnUnit) => boolean;
  /** See `WishInput.isAtWork`. */
  readonly isAtWork: WishInput['isAtWork'];
  /** Carries out what somebody wants of a unit that this host holds. */
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
  /** See `WishInput.announce`. */
  readonly announce: WishInput['announce'];
  /** What others are told of this host's sources; JSON. */
  readonly report: () => string | null;
  readonly observer: ClusterObserver;
}

/** A host's part in a cluster: proves that it lives, takes units and lets go of them. */
export class ClusterRun {
  readonly #input: ClusterRunInput;
  readonly #name: HostName;
  readonly #neighbours: Neighbours;
  readonly #declared: DeclaredUnits;
  readonly #held: HeldUnits;
  readonly #decisions: UnitDecisions;
  readonly #bell = new Bell();
  readonly #beganAtMs: number;
  #trouble: string | null = null;
  /** What was told of it last; `undefined`: nothing was. */
  #told: string | null | undefined;
  #isItself = false;

  constructor(input: ClusterRunInput) {
    const { cluster, clock } = input;
    const neighbours = new Neighbours(cluster.config.host, cluster.config.leaseMs, clock.monotonic);
    const name = new HostName({ ...input, neighbours });
    const declared = new DeclaredUnits(input);
    const left = (): void => {
      this.#bell.ring();
    };
    const held = new HeldUnits({ ...input, name, neighbours, left });
    this.#input = input;
    this.#beganAtMs = clock.monotonic();
    this.#neighbours = neighbours;
    this.#name = name;
    this.#declared = declared;
    this.#held = held;
    this.#decisions = new UnitDecisions({ ...input, name, neighbours, declared, held });
  }

  /** How it stands. */
  get situation(): ClusterSituation {
    return {
      host: this.#host,
      trouble: this.#whyNot,
      isDatabaseUp: this.#trouble === null && this.#neighbours.view !== null,
      view: this.#neighbours.view,
      alive: this.#neighbours.alive,
      held: this.#held.names,
      sources: this.#input.config().sources,
      own: this.#declared.all,
      pinned: this.#name.isAnothers ? [] : this.#decisions.pinned,
      blocked: this.#decisions.blocked,
      failed: this.#held.failures,
      isHaltedElsewhere: (row) => this.#isHaltedElsewhere(row),
    };
  }

  #isHaltedElsewhere(row: UnitRow): boolean {
    const { view, alive } = this.#neighbours;
    if (row.pinned === null || row.pinned === this.#host || view === null) return false;
    return overlapOf(row, view, alive) !== null;
  }

  get #whyNot(): string | null {
    return this.#name.isAnothers
      ? `another host of the cluster is named "${this.#host}"; set cluster.host on one of them`
      : this.#trouble;
  }

  /** Has the next beat come at once. */
  hurry(): void {
    this.#bell.ring();
  }

  /** The configuration changed: its units are looked at anew. */
  reload(): void {
    this.#declared.forget();
    this.#bell.ring();
  }

  /** Takes part until it is stopped, and until nothing is held any more. */
  async run(): Promise<void> {
    const { stop, abort, cluster, clock, visit } = this.#input;
    const listening = new AbortController();
    const ringing = cluster.database.listen(
      channelOf(cluster.config.schema),
      () => {
        this.#bell.ring();
      },
      (signal) => clock.sleep(this.#beatMs, signal),
      listening.signal,
    );
    const breakOff = (): void => {
      this.#held.lose();
    };
    const letGo = (): void => {
      this.#held.release();
      this.#bell.ring();
    };
    abort.addEventListener('abort', breakOff);
    stop.addEventListener('abort', letGo);
    const never = new AbortController().signal;
    try {
      void visit?.also.then(() => {
        this.#bell.ring();
      });
      while (!this.#isLeaving() || !this.#held.isEmpty) {
        await this.#turn();
        this.#held.demandSound();
        this.#tellStanding();
        if (this.#isLeaving() && this.#held.isEmpty) break;
        // A unit is taken when its lease is over, and not a beat later.
        const staleMs = this.#neighbours.untilStaleMs(this.#name.instance) + TIMER_MS;
        await this.#bell.wait(clock, Math.min(this.#beatMs, staleMs), stop.aborted ? never : stop);
      }
      await this.#held.idle();
      this.#held.demandSound();
      const { instance } = this.#name;
      await cluster.membership.leave({ name: this.#host, instance }).catch(() => undefined);
      await this.wakeOthers();
    } finally {
      abort.removeEventListener('abort', breakOff);
      stop.removeEventListener('abort', letGo);
      // After a defect there are some: whoever is told of it goes on to close the database, and to let go of this host's name.
      this.#held.lose();
      await this.#held.idle();
      this.#held.discardKept();
      listening.abort();
      await ringing;
    }
  }

  /** What became of the units that a short stay was for; `null`: it is not known yet. */
  get visited(): ReadonlyMap<string, Visited | null> {
    return this.#input.visit?.outcome(this.#sight) ?? new Map<string, never>();
  }

  /** Others need not wait for their next beat. */
  async wakeOthers(): Promise<void> {
    await wakeHosts(this.#input.cluster).catch(() => undefined);
  }

  /** See `Neighbours.othersSettledUntilMs`. */
  othersSettledUntilMs(own: OwnUnit): number {
    return this.#neighbours.othersSettledUntilMs(own);
  }

  get #sight(): Sight {
    const rows = this.#neighbours.view?.units ?? [];
    const { weight } = this.#input.cluster.config;
    const { all: own, seen } = this.#declared;
    return { own, rows, seen, blocked: this.#decisions.blocked, weight };
  }

  /** Whether no unit is taken any more. */
  #isLeaving(): boolean {
    const { stop, visit } = this.#input;
    if (stop.aborted || visit === undefined) return stop.aborted;
    // A short stay does not wait for a database, nor for ever for its name.
    if (this.#trouble !== null) return true;
    const sinceMs = this.#input.clock.monotonic() - this.#beganAtMs;
    if (this.#name.isAnothers && sinceMs > this.#input.cluster.config.leaseMs + this.#beatMs) return true;
    return this.#name.isOurs && visit.isOver(this.#sight);
  }

  get #host(): string {
    return this.#input.cluster.config.host;
  }

  get #beatMs(): number {
    return beatMs(this.#input.cluster.config.leaseMs);
  }

  #tellStanding(): void {
    const { observer } = this.#input;
    const isItself = !this.#name.isAnothers;
    if (isItself !== this.#isItself) {
      this.#isItself = isItself;
      observer.pinnedChanged();
    }
    const trouble = this.#whyNot;
    if (trouble === this.#told) return;
    this.#told = trouble;
    observer.stands(trouble);
  }

  /** One beat, and what follows from what it brings back. */
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
    const { cluster, clock, visit, observer } = this.#input;
    const unchanged = await this.#declared.declare();
    if (unchanged !== null) this.#held.renew(unchanged);
    await this.#declared.lookAround(this.#beatMs / 2);
    const news = this.#news();
    if (!this.#name.isOurs && !(await this.#name.take(news))) return;
    const held = this.#held.toProve;
    const sentAt = momentOf(clock);
    const view = await cluster.membership.beat(
      news,
      [...held.map(({ unit }) => unit.grant), ...this.#pinnedProofs()].map((proof) => ({
        unit: proof.unit,
        epoch: proof.epoch,
        settledAgeMs: this.#settledAgeMs(proof.unit),
      })),
    );
    if (!view.isKnown) {
      this.#name.lose();
      // Whoever had this host forgotten may have had others go on in its place.
      observer.pinnedChanged();
    }
    this.#held.note(held, view, sentAt);
    this.#declared.check(view);
    this.#neighbours.note(view, sentAt.wallMs);
    visit?.note(view.units);
    this.#checkVersion(view);
    await this.#settle(view);
  }

  #news(): HostNews {
    const { cluster, config, version, report, stop, visit } = this.#input;
    const units = this.#declared.seen.filter((id) => {
      const own = this.#declared.find(id);
      // Who comes for a pass only does not tell people for all.
      return !this.#held.avoids(id) && !(visit !== undefined && own !== undefined && isOfNotifications(own));
    });
    return {
      name: this.#host,
      instance: this.#name.instance,
      // Nobody lets go of a unit for a host that leaves again.
      weight: visit === undefined ? cluster.config.weight : 0,
      version,
      digest: digestOf(config()),
      units: stop.aborted ? [] : units,
      report: report(),
    };
  }

  /** Units that are pinned to this host are not held, and have no epochs. */
  #pinnedProofs(): { unit: number; epoch: number }[] {
    return this.#declared.all.filter(({ isPinned }) => isPinned).map(({ id }) => ({ unit: id, epoch: 0 }));
  }

  #settledAgeMs(id: number): number | null {
    const { clock, cluster, settledUntilMs } = this.#input;
    const own = this.#declared.find(id);
    const untilMs = own === undefined ? null : settledUntilMs(own);
    // The database counts from when it hears of it.
    return untilMs === null
      ? null
      : Math.max(0, Math.round(clock.now() - untilMs)) + patienceMs(cluster.config);
  }

  /** Another host may have brought the ledger to a newer version. Throws `SyncError` once nothing is held any more. */
  #checkVersion({ version, stateVersion }: ClusterView): void {
    if (version <= LEDGER_VERSION && stateVersion <= STATE_VERSION) return;
    this.#decisions.takeNone();
    this.#held.release();
    if (!this.#held.isEmpty) return;
    throw new SyncError('configuration', {
      place: 'the ledger of the cluster',
      reason: 'is of a newer version of botsync',
      fix: 'install that version on this host',
    });
  }

  /** Takes what is to be taken, lets go of what is another's, and does what is wished. */
  async #settle(view: ClusterView): Promise<void> {
    const { cluster, visit, log, isAtWork, wished, announce, observer } = this.#input;
    if (this.#decisions.findBlocked(view)) observer.pinnedChanged();
    for (const row of this.#decisions.former(this.#declared.all, view))
      if (this.#decisions.isAbandoned(row)) await this.#held.free(row);
    for (const own of this.#declared.all) {
      const row = view.units.find(({ id }) => id === own.id);
      if (row === undefined || own.isPinned) continue;
      switch (this.#decisions.about(own, row)) {
        case 'take':
          await this.#held.claim(own, row, this.#decisions.former([own], view).filter(isFree));
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
    await carryOutWishes(view.wishes, { membership, declared, held, log, isAtWork, wished, announce });
  }
}

function isFree({ holder }: UnitRow): boolean {
  return holder === null;
}
