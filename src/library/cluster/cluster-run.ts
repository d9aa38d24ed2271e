import { randomUUID } from 'node:crypto';
import { DatabaseError } from '../../cluster/database.ts';
import type { ClusterView, HostNews, HostRow, UnitRow, WishRow } from '../../cluster/membership.ts';
import { LEDGER_VERSION } from '../../cluster/schema.ts';
import type { Config } from '../../config/config.ts';
import { beatMs, momentOf } from '../../domain/lease.ts';
import { Bell } from '../../service/bell.ts';
import { discardWorkingCopy } from '../../state/working-copy.ts';
import { STATE_VERSION } from '../../state/schema.ts';
import { SyncError } from '../sync-error.ts';
import { HeldUnit, workingCopyOf, type HeldUnitInput, type KeptCopy, type UnitEnd } from './held-unit.ts';
import { patienceMs, type Cluster } from './open-cluster.ts';
import { Neighbours } from './neighbours.ts';
import { declareUnits, digestOf, overlapOf, seesAll, type OwnUnit } from './own-units.ts';
import type { Sight, Visit, Visited } from './visit.ts';

/** A unit moves to the host that is to have it only after so long without any change among the hosts, milliseconds. */
const QUIET_MS = 60_000;

/** A unit that could not be worked on is left to others for so long, milliseconds. */
const AVOID_MS = 15_000;

/** Timers may fire so much early, milliseconds. */
const TIMER_MS = 5;

/** A free unit that is another host's to take is taken all the same after so many beats. */
const BEATS_OF_COURTESY = 3;

/** What a host's part in a cluster is made of. */
export interface ClusterRunInput extends Pick<HeldUnitInput, 'stateFile' | 'clock' | 'log'> {
  readonly cluster: Cluster;
  /** Tells this machine and its state file from all others: a process that ended there cannot come back. */
  readonly machine: string;
  readonly version: string;
  /** The configuration of now. */
  readonly config: () => Config;
  /** What the platform is called in records. */
  readonly platformName: (config: Config) => string;
  /** Works on a unit. */
  readonly work: (unit: OwnUnit, worked: Parameters<HeldUnitInput['work']>[0]) => Promise<void>;
  /** All of a unit that was there by then is on the platform, epoch milliseconds; `null`: that is not known. */
  readonly settledUntilMs: (unit: OwnUnit) => number | null;
  /** Whether a unit has nothing under way just now, so that it may move. */
  readonly isQuiet: (unit: OwnUnit) => boolean;
  /** Carries out what somebody wants of a unit that this host holds. */
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
  /** What others are told of this host's sources; JSON. */
  readonly report: () => string | null;
  readonly observer: ClusterObserver;
  /** Given where the host only comes to take each unit once. */
  readonly visit?: Visit;
  /** No unit is taken any more, and those that are held are let go of, once it aborts. */
  readonly stop: AbortSignal;
  /** Breaks off what is running. */
  readonly abort: AbortSignal;
}

/** Follows a host's part in a cluster. */
export interface ClusterObserver {
  /** This host takes part from now on, once more after another process had its name. */
  readonly joined: () => void;
  readonly shipped: (seconds: number) => void;
  /** `from`: the host that held it and did not let go of it; `null`: it was free. */
  readonly taken: (unit: string, from: string | null) => void;
  readonly ended: (unit: string, end: UnitEnd) => void;
  /** What keeps the sources of pinned units from being synced has changed. */
  readonly pinnedChanged: () => void;
}

/** How a host's part in a cluster stands. */
export interface ClusterSituation {
  readonly host: string;
  /** Why this host cannot take part; `null`: it can. */
  readonly trouble: string | null;
  readonly view: ClusterView | null;
  /** Hosts that were heard of lately. */
  readonly alive: readonly HostRow[];
  /** Names of the units that this host holds. */
  readonly held: readonly string[];
  /** The units of the configuration; none until the ledger has them. */
  readonly own: readonly OwnUnit[];
  /** Units of the configuration that nobody may work on, and why. */
  readonly blocked: ReadonlyMap<string, string>;
}

/** A host's part in a cluster: proves that it lives, takes units and lets go of them. */
export class ClusterRun {
  readonly #input: ClusterRunInput;
  readonly #instance: string;
  readonly #neighbours: Neighbours;
  readonly #held = new Map<number, HeldUnit>();
  readonly #running = new Set<Promise<void>>();
  /** Units that are left to others until then, by the monotonic clock. */
  readonly #avoided = new Map<number, number>();
  /** Working copies of units that were lost, by their numbers. */
  readonly #kept = new Map<number, KeptCopy>();
  readonly #bell = new Bell();
  #own: readonly OwnUnit[] | null = null;
  #seen: readonly number[] = [];
  #blocked: ReadonlyMap<string, string> = new Map();
  #hasJoined = false;
  #isNameTaken = false;
  #isOutdated = false;
  readonly #beganAtMs: number;
  #trouble: string | null = null;

  constructor(input: ClusterRunInput) {
    this.#input = input;
    this.#beganAtMs = input.clock.monotonic();
    this.#instance = `${input.machine}:${randomUUID()}`;
    const { host, leaseMs } = input.cluster.config;
    this.#neighbours = new Neighbours(host, leaseMs, input.clock.monotonic);
  }

  /** How it stands. */
  get situation(): ClusterSituation {
    return {
      host: this.#host,
      trouble: this.#isNameTaken
        ? `another host of the cluster is named "${this.#host}" (cluster.host)`
        : this.#trouble,
      view: this.#neighbours.view,
      alive: this.#neighbours.alive,
      held: [...this.#held.values()].map(({ name }) => name),
      own: this.#own ?? [],
      blocked: this.#blocked,
    };
  }

  /** Has the next beat come at once. */
  hurry(): void {
    this.#bell.ring();
  }

  /** The configuration changed: its units are looked at anew. */
  reload(): void {
    this.#own = null;
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
      for (const unit of this.#held.values()) unit.lose();
    };
    const letGo = (): void => {
      for (const unit of this.#held.values()) unit.release();
      this.#bell.ring();
    };
    abort.addEventListener('abort', breakOff);
    stop.addEventListener('abort', letGo);
    const never = new AbortController().signal;
    try {
      void visit?.also.then(() => {
        this.#bell.ring();
      });
      while (!this.#isLeaving() || this.#held.size > 0) {
        await this.#turn();
        if (this.#isLeaving() && this.#held.size === 0) break;
        // A unit is taken when its lease is over, and not a beat later.
        const staleMs = this.#neighbours.untilStaleMs(this.#instance) + TIMER_MS;
        await this.#bell.wait(clock, Math.min(this.#beatMs, staleMs), stop.aborted ? never : stop);
      }
      await Promise.all(this.#running);
      await cluster.membership.leave({ name: this.#host, instance: this.#instance }).catch(() => undefined);
      await this.wakeOthers();
    } finally {
      abort.removeEventListener('abort', breakOff);
      stop.removeEventListener('abort', letGo);
      for (const id of this.#kept.keys()) discardWorkingCopy(workingCopyOf(this.#input.stateFile, id));
      listening.abort();
      await ringing;
    }
  }

  /** What became of the units that a short stay was for; `null`: it is not known yet. */
  get visited(): ReadonlyMap<string, Visited | null> {
    return this.#input.visit?.outcome(this.#sight) ?? new Map<string, never>();
  }

  get #sight(): Sight {
    const rows = this.#neighbours.view?.units ?? [];
    const { weight } = this.#input.cluster.config;
    return { own: this.#own ?? [], rows, seen: this.#seen, blocked: this.#blocked, weight };
  }

  /** Whether no unit is taken any more. */
  #isLeaving(): boolean {
    const { stop, visit } = this.#input;
    if (stop.aborted || visit === undefined) return stop.aborted;
    // A short stay does not wait for a database, nor for ever for its name.
    if (this.#trouble !== null) return true;
    const sinceMs = this.#input.clock.monotonic() - this.#beganAtMs;
    if (this.#isNameTaken && sinceMs > this.#input.cluster.config.leaseMs + this.#beatMs) return true;
    return this.#hasJoined && visit.isOver(this.#sight);
  }

  /** Others need not wait for their next beat. */
  async wakeOthers(): Promise<void> {
    const { database, config } = this.#input.cluster;
    await database
      .sql('SELECT pg_notify($1, $2)', [channelOf(config.schema), this.#host])
      .catch(() => undefined);
  }

  get #host(): string {
    return this.#input.cluster.config.host;
  }

  get #beatMs(): number {
    return beatMs(this.#input.cluster.config.leaseMs);
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
    const { cluster, clock } = this.#input;
    await this.#declare();
    await this.#lookAround();
    const news = this.#news();
    if (!this.#hasJoined && !(await this.#join(news))) return;
    const held = [...this.#held.values()].map((unit) => ({ unit, seq: unit.seq }));
    const sentAt = momentOf(clock);
    const view = await cluster.membership.beat(
      news,
      [...held.map(({ unit }) => unit.grant), ...this.#pinnedProofs()].map((proof) => ({
        unit: proof.unit,
        epoch: proof.epoch,
        settledAgeMs: this.#settledAgeMs(proof.unit),
      })),
    );
    if (!view.isKnown) this.#hasJoined = false;
    for (const { unit, seq } of held) {
      const { grant } = unit;
      const row = view.units.find(({ id }) => id === grant.unit);
      const isProven = view.proven.includes(grant.unit);
      if (isProven) unit.lease.prove(sentAt);
      // What it took is gone, or the grant itself: epochs and numbers of shipments only grow.
      if (row !== undefined && (row.epoch < grant.epoch || (isProven && row.seq < seq))) unit.rewind();
      else if (!isProven && this.#held.has(grant.unit)) unit.lose();
    }
    this.#declareForgotten(view);
    this.#neighbours.note(view, sentAt.wallMs);
    this.#input.visit?.note(view.units);
    this.#checkVersion(view);
    await this.#settle(view);
  }

  /** Takes the name of this host. `false`: another machine has it, and lives as far as is known. */
  async #join(news: HostNews): Promise<boolean> {
    const { cluster, clock, log } = this.#input;
    const askedAtMs = clock.now();
    this.#neighbours.note(await cluster.membership.look(), askedAtMs);
    const { leaseMs } = cluster.config;
    const other = this.#neighbours.view?.hosts.find(({ name }) => name === news.name);
    const isForeign = other !== undefined && !this.#wasHere(other.instance);
    if (isForeign && this.#neighbours.silentMs(news.name) < leaseMs) {
      if (!this.#isNameTaken)
        log.warn(
          `a host of the name "${news.name}" takes part already, or did until now; botsync waits until it is silent`,
        );
      this.#isNameTaken = true;
      return false;
    }
    this.#isNameTaken = false;
    await cluster.membership.join(news);
    this.#hasJoined = true;
    this.#input.observer.joined();
    return true;
  }

  /** Whether a process was one of this machine and its state file: it has ended then. */
  #wasHere(instance: string): boolean {
    return instance.startsWith(`${this.#input.machine}:`);
  }

  async #declare(): Promise<void> {
    if (this.#own !== null) return;
    const { cluster, config, platformName } = this.#input;
    const now = config();
    const own = await declareUnits(cluster, now, this.#host, platformName(now));
    this.#own = own;
    for (const [id, unit] of this.#held) if (!own.some((one) => one.id === id)) unit.release();
  }

  /** A database that went back in time may not know what was declared. */
  #declareForgotten({ units }: ClusterView): void {
    const isKnown = ({ id, name, target }: OwnUnit): boolean =>
      units.some((row) => row.id === id && row.name === name && row.target === target);
    if (!(this.#own ?? []).every(isKnown)) this.#own = null;
  }

  /** Looks which units' directories are there. */
  async #lookAround(): Promise<void> {
    const own = this.#own ?? [];
    const looks = own.map(async (unit) => ((await seesAll(unit, this.#beatMs / 2)) ? [unit.id] : []));
    this.#seen = (await Promise.all(looks)).flat();
  }

  #news(): HostNews {
    const { cluster, config, version, report, clock, stop, visit } = this.#input;
    const nowMs = clock.monotonic();
    const wanted = this.#seen.filter((id) => (this.#avoided.get(id) ?? 0) <= nowMs);
    return {
      name: this.#host,
      instance: this.#instance,
      // Nobody lets go of a unit for a host that leaves again.
      weight: visit === undefined ? cluster.config.weight : 0,
      version,
      digest: digestOf(config()),
      units: stop.aborted ? [] : wanted,
      report: report(),
    };
  }

  /** Units that are pinned to this host are not held, and have no epochs. */
  #pinnedProofs(): { unit: number; epoch: number }[] {
    return (this.#own ?? []).filter(({ isPinned }) => isPinned).map(({ id }) => ({ unit: id, epoch: 0 }));
  }

  #settledAgeMs(id: number): number | null {
    const { clock, cluster, settledUntilMs } = this.#input;
    const own = this.#own?.find((one) => one.id === id);
    const untilMs = own === undefined ? null : settledUntilMs(own);
    // The database counts from when it hears of it.
    return untilMs === null
      ? null
      : Math.max(0, Math.round(clock.now() - untilMs)) + patienceMs(cluster.config);
  }

  /** See `Neighbours.othersSettledUntilMs`. */
  othersSettledUntilMs(own: OwnUnit): number {
    return this.#neighbours.othersSettledUntilMs(own);
  }

  /** Another host may have brought the ledger to a newer version. Throws `SyncError` once nothing is held any more. */
  #checkVersion({ version, stateVersion }: ClusterView): void {
    if (version <= LEDGER_VERSION && stateVersion <= STATE_VERSION) return;
    this.#isOutdated = true;
    for (const unit of this.#held.values()) unit.release();
    if (this.#held.size > 0) return;
    throw new SyncError('configuration', {
      place: 'the ledger of the cluster',
      reason: 'is of a newer version of botsync',
      fix: 'install that version on this host',
    });
  }

  /** Takes what is to be taken, lets go of what is another's, and does what is wished. */
  async #settle(view: ClusterView): Promise<void> {
    this.#findBlocked(view);
    for (const own of this.#own ?? []) {
      const row = view.units.find(({ id }) => id === own.id);
      if (row === undefined || own.isPinned) continue;
      const held = this.#held.get(own.id);
      if (held === undefined) {
        if (this.#mayTake(own, row)) await this.#claim(own, row);
      } else if (this.#isBlocked(own) || this.#isToMove(own)) held.release();
    }
    await this.#carryOutWishes(view.wishes);
  }

  #findBlocked(view: ClusterView): void {
    const { alive } = this.#neighbours;
    const before = JSON.stringify([...this.#blocked]);
    const found = (this.#own ?? []).flatMap((own) => {
      const reason = overlapOf(own, view, alive);
      return reason === null ? [] : [[own.name, reason] as const];
    });
    this.#blocked = new Map(found);
    if (JSON.stringify(found) === before) return;
    for (const [name, reason] of found) this.#input.log.error(`${name} is halted: ${reason}`);
    this.#input.observer.pinnedChanged();
  }

  #isBlocked({ name }: OwnUnit): boolean {
    return this.#blocked.has(name);
  }

  /** Whether this host could work on a unit. */
  #isAble(own: OwnUnit): boolean {
    const { stop, cluster, clock, visit } = this.#input;
    if (visit?.mayTake(own) === false || stop.aborted || this.#isOutdated) return false;
    if (cluster.config.weight <= 0 || this.#isBlocked(own) || !this.#seen.includes(own.id)) return false;
    return (this.#avoided.get(own.id) ?? 0) <= clock.monotonic();
  }

  #mayTake(own: OwnUnit, row: UnitRow): boolean {
    if (!this.#isAble(own)) return false;
    const { cluster, visit } = this.#input;
    const { leaseMs } = cluster.config;
    const stillMs = this.#neighbours.stillMs(row);
    // Whoever took it since may be at work, and come back with all records.
    if (this.#neighbours.hasForgotten(row)) return stillMs >= (this.#isRewound(row) ? 1 : 2) * leaseMs;
    // This process alone has the state file of this host: whoever held it here has ended.
    if (row.holder !== null && this.#wasHere(row.holder)) return true;
    const isFree = row.holder === null && !this.#neighbours.isDatabaseNew;
    if (!isFree && stillMs < leaseMs) return false;
    if (visit !== undefined || this.#neighbours.isOurs(own)) return true;
    return stillMs - (isFree ? 0 : leaseMs) >= BEATS_OF_COURTESY * this.#beatMs;
  }

  #isToMove(own: OwnUnit): boolean {
    const { unchangedMs } = this.#neighbours;
    if (this.#input.visit !== undefined || unchangedMs < QUIET_MS || this.#neighbours.isOurs(own))
      return false;
    return this.#neighbours.canOthersTake(own) && this.#input.isQuiet(own);
  }

  async #claim(own: OwnUnit, row: UnitRow): Promise<void> {
    const { cluster, clock, observer, log, visit } = this.#input;
    const claimedAt = momentOf(clock);
    const grant = await cluster.membership.claim(row, this.#neighbours.highestEpoch(own.id), {
      name: this.#host,
      instance: this.#instance,
    });
    if (grant === null) return;
    this.#neighbours.noteEpoch(own.id, grant.epoch);
    const from = row.holder === null ? null : row.holderHost;
    observer.taken(own.name, from);
    const facts = { epoch: grant.epoch, ...(from !== null && { from }) };
    // A pass tells of files.
    log[visit === undefined ? 'info' : 'debug'](`${own.name} is synced by this host now`, facts);
    const { leaseMs, suspectAfterMs } = cluster.config;
    const { stateFile, work } = this.#input;
    const unit = new HeldUnit({
      ...{
        name: own.name,
        grant,
        claimedAt,
        leaseMs,
        suspectAfterMs,
        host: this.#host,
        stateFile,
        isRewound: this.#isRewound(row),
        clock,
        log,
      },
      ledger: cluster.ledger,
      shipped: observer.shipped,
      work: (worked) => work(own, worked),
    });
    this.#kept.delete(own.id);
    this.#held.set(own.id, unit);
    const running = this.#runUnit(own, unit).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Whether the ledger has less of a unit than it took from us: epochs and numbers of shipments only grow. */
  #isRewound({ id, epoch, seq }: UnitRow): boolean {
    const kept = this.#kept.get(id);
    if (kept === undefined) return false;
    return epoch < kept.epoch || (epoch === kept.epoch && (kept.isOwed || seq < kept.seq));
  }

  async #runUnit(own: OwnUnit, unit: HeldUnit): Promise<void> {
    const { clock, log, observer, stop, visit } = this.#input;
    let end: UnitEnd | null = null;
    try {
      end = await unit.run();
      visit?.ended(own.id, end);
      observer.ended(own.name, end);
    } finally {
      this.#held.delete(own.id);
      if (end?.kind === 'lost' && unit.kept !== null) this.#kept.set(own.id, unit.kept);
      if (end?.kind !== 'lost') this.#avoided.set(own.id, clock.monotonic() + AVOID_MS);
      this.#bell.ring();
    }
    if (end.kind === 'failed')
      log.error(
        `${own.name} cannot be synced by this host: ${end.reason}${visit === undefined ? '; it is retried' : ''}`,
      );
    else if (!stop.aborted && visit === undefined)
      log.info(`${own.name} is not synced by this host any more`, { end: end.kind });
    await this.wakeOthers();
  }

  async #carryOutWishes(wishes: readonly WishRow[]): Promise<void> {
    const { cluster, wished, visit } = this.#input;
    if (visit !== undefined) return;
    for (const wish of wishes) {
      const held = this.#held.get(wish.unit);
      const own = (this.#own ?? []).find(({ id }) => id === wish.unit);
      if (own === undefined || !(own.isPinned || held?.isEnding === false)) continue;
      if (!(await cluster.membership.takeWish(wish.id))) continue;
      if (wish.kind === 'release') held?.release();
      else wished(own, wish);
    }
  }
}

/** What hosts of a cluster wake each other by: the channel of notifications. */
export function channelOf(schema: string): string {
  return `botsync_${schema.replaceAll(/[^a-z0-9_]/gu, '_')}`;
}
