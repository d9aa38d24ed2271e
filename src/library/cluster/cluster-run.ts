import { randomUUID } from 'node:crypto';
import { DatabaseError } from '../../cluster/database.ts';
import type { ClusterView, HostNews, HostRow, UnitRow, WishRow } from '../../cluster/membership.ts';
import { LEDGER_VERSION } from '../../cluster/schema.ts';
import type { Config } from '../../config/config.ts';
import { bestHost } from '../../domain/assignment.ts';
import { beatMs, momentOf } from '../../domain/lease.ts';
import { Standstill } from '../../domain/standstill.ts';
import { Bell } from '../../service/bell.ts';
import { STATE_VERSION } from '../../state/schema.ts';
import { SyncError } from '../sync-error.ts';
import { HeldUnit, type HeldUnitInput, type UnitEnd } from './held-unit.ts';
import type { Cluster } from './open-cluster.ts';
import { declareUnits, digestOf, overlapOf, seesAll, type OwnUnit } from './own-units.ts';

/** A unit moves to the host that is to have it only after so long without any change among the hosts, milliseconds. */
const QUIET_MS = 60_000;

/** A unit that could not be worked on is left to others for so long, milliseconds. */
const AVOID_MS = 15_000;

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
  /** Whether a unit has nothing under way just now, so that it may move. */
  readonly isQuiet: (unit: OwnUnit) => boolean;
  /** Carries out what somebody wants of a unit that this host holds. */
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
  /** What others are told of this host's sources; JSON. */
  readonly report: () => string | null;
  readonly observer: ClusterObserver;
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
  readonly #held = new Map<number, HeldUnit>();
  readonly #running = new Set<Promise<void>>();
  readonly #unitMarks = new Standstill<number>();
  readonly #hostMarks = new Standstill<string>();
  /** Epochs never go back, also where the database does. */
  readonly #highestEpochs = new Map<number, number>();
  /** Units that are left to others until then, by the monotonic clock. */
  readonly #avoided = new Map<number, number>();
  readonly #bell = new Bell();
  #own: readonly OwnUnit[] | null = null;
  #seen: readonly number[] = [];
  #blocked: ReadonlyMap<string, string> = new Map();
  #view: ClusterView | null = null;
  #hasJoined = false;
  #isNameTaken = false;
  #isOutdated = false;
  #trouble: string | null = null;
  #aliveNames = '';
  #aliveSinceMs: number;

  constructor(input: ClusterRunInput) {
    this.#input = input;
    this.#instance = `${input.machine}:${randomUUID()}`;
    this.#aliveSinceMs = input.clock.monotonic();
  }

  /** How it stands. */
  get situation(): ClusterSituation {
    return {
      host: this.#host,
      trouble: this.#isNameTaken
        ? `another host of the cluster is named "${this.#host}" (cluster.host)`
        : this.#trouble,
      view: this.#view,
      alive: this.#alive(),
      held: [...this.#held.values()].map(({ name }) => name),
      own: this.#own ?? [],
      blocked: this.#blocked,
    };
  }

  /** The configuration changed: its units are looked at anew. */
  reload(): void {
    this.#own = null;
    this.#bell.ring();
  }

  /** Takes part until it is stopped, and until nothing is held any more. */
  async run(): Promise<void> {
    const { stop, abort, cluster, clock } = this.#input;
    const ringing = cluster.database.listen(
      channelOf(cluster.config.schema),
      () => {
        this.#bell.ring();
      },
      (signal) => clock.sleep(this.#beatMs, signal),
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
      while (!stop.aborted || this.#held.size > 0) {
        await this.#turn();
        await this.#bell.wait(clock, this.#beatMs, stop.aborted ? never : stop);
      }
      await Promise.all(this.#running);
      await cluster.membership.leave({ name: this.#host, instance: this.#instance }).catch(() => undefined);
      await this.wakeOthers();
    } finally {
      abort.removeEventListener('abort', breakOff);
      stop.removeEventListener('abort', letGo);
      await cluster.close();
      await ringing;
    }
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
    const held = [...this.#held.values()];
    const sentAt = momentOf(clock);
    const view = await cluster.membership.beat(
      news,
      held.map(({ grant }) => grant),
    );
    if (!view.isKnown) this.#hasJoined = false;
    for (const unit of held) {
      if (view.proven.includes(unit.grant.unit)) unit.lease.prove(sentAt);
      else if (this.#held.has(unit.grant.unit)) unit.lose();
    }
    this.#take(view);
    this.#checkVersion(view);
    await this.#settle(view);
  }

  /** Takes the name of this host. `false`: another machine has it, and lives as far as is known. */
  async #join(news: HostNews): Promise<boolean> {
    const { cluster, clock, log } = this.#input;
    this.#take(await cluster.membership.look());
    const { leaseMs } = cluster.config;
    const other = this.#view?.hosts.find(({ name }) => name === news.name);
    const isForeign = other !== undefined && !this.#wasHere(other.instance);
    if (isForeign && this.#hostMarks.forMs(news.name, clock.monotonic()) < leaseMs) {
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

  /** Looks which units' directories are there. */
  async #lookAround(): Promise<void> {
    const own = this.#own ?? [];
    const looks = own.map(async (unit) => ((await seesAll(unit, this.#beatMs / 2)) ? [unit.id] : []));
    this.#seen = (await Promise.all(looks)).flat();
  }

  #news(): HostNews {
    const { cluster, config, version, report, clock, stop } = this.#input;
    const nowMs = clock.monotonic();
    const wanted = this.#seen.filter((id) => (this.#avoided.get(id) ?? 0) <= nowMs);
    return {
      name: this.#host,
      instance: this.#instance,
      weight: cluster.config.weight,
      version,
      digest: digestOf(config()),
      units: stop.aborted ? [] : wanted,
      report: report(),
    };
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

  /** Takes note of what a beat brought back. */
  #take(view: ClusterView): void {
    const nowMs = this.#input.clock.monotonic();
    this.#view = view;
    for (const { id, epoch, beat } of view.units) this.#unitMarks.note(id, `${epoch} ${beat}`, nowMs);
    for (const { name, instance, beat } of view.hosts)
      this.#hostMarks.note(name, `${instance} ${beat}`, nowMs);
    for (const { id, epoch } of view.units)
      this.#highestEpochs.set(id, Math.max(epoch, this.#highestEpochs.get(id) ?? 0));
    const names = this.#alive()
      .map(({ name, weight, units }) => JSON.stringify([name, weight, units]))
      .sort()
      .join();
    if (names !== this.#aliveNames) this.#aliveSinceMs = nowMs;
    this.#aliveNames = names;
  }

  #alive(): HostRow[] {
    const { cluster, clock } = this.#input;
    const nowMs = clock.monotonic();
    const hosts = this.#view?.hosts ?? [];
    return hosts.filter(
      ({ name }) => name === this.#host || this.#hostMarks.forMs(name, nowMs) < cluster.config.leaseMs,
    );
  }

  /** Takes what is to be taken, lets go of what is another's, and does what is wished. */
  async #settle(view: ClusterView): Promise<void> {
    const alive = this.#alive();
    this.#findBlocked(view, alive);
    for (const own of this.#own ?? []) {
      const row = view.units.find(({ id }) => id === own.id);
      if (row === undefined || own.isPinned) continue;
      const held = this.#held.get(own.id);
      if (held === undefined) {
        if (this.#mayTake(own, row, alive)) await this.#claim(own, row);
      } else if (this.#isBlocked(own) || this.#isToMove(own, alive)) held.release();
    }
    await this.#carryOutWishes(view.wishes);
  }

  #findBlocked(view: ClusterView, alive: readonly HostRow[]): void {
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

  #mayTake(own: OwnUnit, row: UnitRow, alive: readonly HostRow[]): boolean {
    const { stop, cluster, clock } = this.#input;
    const nowMs = clock.monotonic();
    const { weight, leaseMs } = cluster.config;
    if (
      stop.aborted ||
      this.#isOutdated ||
      weight <= 0 ||
      this.#isBlocked(own) ||
      !this.#seen.includes(own.id)
    )
      return false;
    if ((this.#avoided.get(own.id) ?? 0) > nowMs) return false;
    // This process alone has the state file of this host: whoever held it here has ended.
    const wasOurs = row.holder !== null && this.#wasHere(row.holder);
    const stillMs = this.#unitMarks.forMs(own.id, nowMs);
    if (wasOurs) return true;
    const isFree = row.holder === null;
    if (!isFree && stillMs < leaseMs) return false;
    if (this.#isOurs(own, alive)) return true;
    return stillMs - (isFree ? 0 : leaseMs) >= BEATS_OF_COURTESY * this.#beatMs;
  }

  /** Whether of all hosts that could take a unit this one is to. */
  #isOurs(own: OwnUnit, alive: readonly HostRow[]): boolean {
    const candidates = alive.filter(({ units }) => units.includes(own.id));
    return (
      bestHost(
        own.name,
        candidates.map(({ name, weight }) => ({ host: name, weight })),
      ) === this.#host
    );
  }

  #isToMove(own: OwnUnit, alive: readonly HostRow[]): boolean {
    const { clock, isQuiet } = this.#input;
    if (clock.monotonic() - this.#aliveSinceMs < QUIET_MS || this.#isOurs(own, alive)) return false;
    return alive.some(({ name, units }) => name !== this.#host && units.includes(own.id)) && isQuiet(own);
  }

  async #claim(own: OwnUnit, row: UnitRow): Promise<void> {
    const { cluster, clock, observer, log } = this.#input;
    const claimedAt = momentOf(clock);
    const grant = await cluster.membership.claim(row, this.#highestEpochs.get(own.id) ?? 0, {
      name: this.#host,
      instance: this.#instance,
    });
    if (grant === null) return;
    this.#highestEpochs.set(own.id, grant.epoch);
    const from = row.holder === null ? null : row.holderHost;
    observer.taken(own.name, from);
    log.info(`${own.name} is synced by this host now`, {
      epoch: grant.epoch,
      ...(from !== null && { from }),
    });
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
        clock,
        log,
      },
      ledger: cluster.ledger,
      shipped: observer.shipped,
      work: (worked) => work(own, worked),
    });
    this.#held.set(own.id, unit);
    const running = this.#runUnit(own, unit).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #runUnit(own: OwnUnit, unit: HeldUnit): Promise<void> {
    const { clock, log, observer, stop } = this.#input;
    let end: UnitEnd | null = null;
    try {
      end = await unit.run();
      observer.ended(own.name, end);
    } finally {
      this.#held.delete(own.id);
      if (end?.kind !== 'lost') this.#avoided.set(own.id, clock.monotonic() + AVOID_MS);
      this.#bell.ring();
    }
    if (end.kind === 'failed')
      log.error(`${own.name} cannot be synced by this host: ${end.reason}; it is retried`);
    else if (!stop.aborted) log.info(`${own.name} is not synced by this host any more`, { end: end.kind });
    await this.wakeOthers();
  }

  async #carryOutWishes(wishes: readonly WishRow[]): Promise<void> {
    const { cluster, wished } = this.#input;
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

/** What hosts of a cluster wake each other by. */
function channelOf(schema: string): string {
  return `botsync_${schema.replaceAll(/[^a-z0-9_]/gu, '_')}`;
}
