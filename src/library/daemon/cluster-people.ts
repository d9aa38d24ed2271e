import { DatabaseError } from '../../cluster/database.ts';
import type { Membership, WishRow } from '../../cluster/membership.ts';
import type { Config, SourceConfig } from '../../config/config.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { canonicalJson } from '../../domain/json.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import { Announcements } from '../../notify/announcements.ts';
import type { MessageOutcome } from '../../notify/notifications.ts';
import { Bell } from '../../service/bell.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { SourceStatus } from '../../sync/plan/overview.ts';
import { targetOf } from '../../sync/sources/source.ts';
import { ANNOUNCE, passOnAnnouncements } from '../cluster/announcement-outbox.ts';
import type { ClusterSituation } from '../cluster/cluster-situation.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import type { HostReport, HostReports } from '../cluster/host-reports.ts';
import type { Cluster } from '../cluster/open-cluster.ts';
import { notificationUnit } from '../cluster/notification-unit.ts';
import type { OwnUnit } from '../cluster/own-units.ts';
import type { AllSeen, SeenHost } from '../cluster/snapshot-of-all.ts';
import { toldBefore } from '../cluster/told-before.ts';
import { ClusterNotifier, REPORT_MS } from './cluster-notifier.ts';
import type { DaemonNotifier } from './daemon-notifier.ts';
import type { Daemons } from './daemons.ts';
import { HostReporter } from './host-report.ts';

/** What could not be passed on is tried again after so long, milliseconds. */
const ANNOUNCE_MS = 10_000;

/**
 * While so many files are listed that nobody has taken note of, no more are passed on: every host is told the whole list with every
 * beat. Those that come in the meantime wait in the state, which drops them when they become too many.
 */
const MOST_LISTED = 50;

/** What telling people takes in a cluster. */
export interface ClusterPeopleInput {
  readonly cluster: {
    readonly config: Pick<Cluster['config'], 'schema'>;
    readonly database: Pick<Cluster['database'], 'sql'>;
    readonly membership: Pick<Membership, 'wish' | 'takeWishes'>;
  };
  readonly config: () => Config;
  readonly platformName: (config: Config) => string;
  readonly daemons: Pick<Daemons, 'running'>;
  readonly notifier: Pick<DaemonNotifier, 'attach' | 'detach' | 'note' | 'wake'>;
  /** What the sources of this host look like; `null`: that is not known. */
  readonly sources: () => readonly SourceStatus[] | null;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly notificationEnded: (outcome: MessageOutcome) => void;
  readonly log: Log;
  readonly situation: () => ClusterSituation;
  /** This host's share of the budget, requests a second. */
  readonly share: () => number;
  readonly reports: HostReports;
  /** Asks what all hosts say of themselves. Resolves in any case, and soon. */
  readonly look: () => Promise<void>;
  readonly wakeOthers: () => Promise<void>;
}

/** What a daemon does in a cluster so that people are told by one host for all. */
export class ClusterPeople {
  readonly #input: ClusterPeopleInput;
  readonly #notifier: ClusterNotifier;
  readonly #reporter = new HostReporter(systemClock);
  /** Rings when there may be something to announce. */
  readonly #deliveries = new Bell();
  /** Files that this host is to announce for others. */
  #wishes: readonly WishRow[] = [];
  #reported: { readonly text: string; readonly atMs: number } | null = null;

  constructor(input: ClusterPeopleInput) {
    const { cluster, notifier, look, notificationEnded } = input;
    this.#input = input;
    this.#notifier = new ClusterNotifier({
      ...{ notifier, look, ended: notificationEnded, clock: systemClock },
      place: () => {
        const now = input.config();
        const unit = notificationUnit(now, input.platformName(now));
        return unit && canonicalJson(unit);
      },
      seen: () => this.#seen(),
      toldBefore: () => toldBefore(cluster.database.sql, cluster.config.schema),
    });
  }

  /** See `ClusterNotifier.summedUpMs`. */
  get summedUpMs(): number | null {
    return this.#notifier.summedUpMs;
  }

  /** Tells people for all hosts until it is stopped. Throws `StateFileError`, `DatabaseError`. */
  tell(worked: WorkedUnit): Promise<void> {
    return this.#notifier.run(worked);
  }

  /** See `ClusterNotifier.reload`. */
  reload(): Promise<void> {
    return this.#notifier.reload();
  }

  /** See `WishInput.announce`. */
  announce(wishes: readonly WishRow[]): void {
    this.#wishes = wishes;
    if (wishes.length > 0) this.#deliveries.ring();
  }

  /** What takes note of files of a state file that are to be announced; `null`: none are. */
  onDelivery(state: StateStore): ((delivery: Delivery) => void) | null {
    const { config, log } = this.#input;
    const { announce = [] } = config().notify ?? {};
    if (announce.length === 0) return null;
    const announcements = new Announcements(announce, {
      memory: state.notices,
      now: systemClock.now,
      log,
      dropped: () => {
        this.#input.notificationEnded('dropped');
      },
    });
    return (delivery) => {
      announcements.delivered(delivery);
      this.#deliveries.ring();
    };
  }

  /** Has files announced by the host that tells people while a task runs. */
  async announcing<T>(task: () => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const announcing = this.#announce(ended.signal);
    try {
      return await task();
    } finally {
      ended.abort();
      await announcing;
    }
  }

  async #announce(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const step of [() => this.#takeNote(), () => this.#passOnAnnouncements()]) {
        try {
          await step();
        } catch (error) {
          // They wait in the state, or in the ledger: whoever has to do with these tells what is wrong.
          if (!(error instanceof DatabaseError || error instanceof StateFileError)) throw error;
        }
      }
      await this.#deliveries.wait(systemClock, ANNOUNCE_MS, signal);
    }
  }

  /** Takes files over that hosts passed on. Whoever ends in the midst of it has another one do so once more. */
  async #takeNote(): Promise<void> {
    const wishes = this.#wishes;
    if (wishes.length === 0 || !(await this.#notifier.note(wishes.map(({ body }) => body)))) return;
    this.#input.notifier.wake();
    await this.#input.cluster.membership.takeWishes(wishes.map(({ id }) => id));
    if (this.#wishes === wishes) this.#wishes = [];
  }

  async #passOnAnnouncements(): Promise<void> {
    const { daemons, platformName, cluster } = this.#input;
    const { own, trouble, view } = this.#input.situation();
    const unit = this.#notifications;
    if (unit === null || trouble !== null) return;
    const listed = view?.wishes.filter((wish) => wish.unit === unit.id && wish.kind === ANNOUNCE) ?? [];
    if (listed.length >= MOST_LISTED) return;
    let passedOn = 0;
    for (const { state, config } of daemons.running) {
      const isInUse = (): boolean => daemons.running.some((one) => one.state === state);
      if (!isInUse()) continue;
      const name = platformName(config);
      const isKept = (source: SourceConfig): boolean =>
        config.sources.some((one) => one.name === source.name);
      const targets = new Map(
        own.flatMap(({ sources, target }) =>
          // Targets of others have no place in this state: asking for their numbers would give them some.
          sources
            .filter(isKept)
            .map((source) => [state.targetId(targetOf(config, source, name)), target] as const),
        ),
      );
      const targetInLedger = (target: number): number | null => targets.get(target) ?? null;
      const announced = { notices: state.notices, targetInLedger, isInUse };
      passedOn += await passOnAnnouncements(cluster.membership, unit.id, announced);
    }
    if (passedOn > 0) await this.#input.wakeOthers();
  }

  /** The unit whose holder tells people; `null`: they are told nothing, or the ledger does not have it yet. */
  get #notifications(): OwnUnit | null {
    return this.#input.situation().own.find(isOfNotifications) ?? null;
  }

  /** What this host says of itself to the others, JSON; `null`: nothing is known. */
  report(): string | null {
    const nowMs = systemClock.monotonic();
    if (this.#reported === null || nowMs - this.#reported.atMs >= REPORT_MS) {
      const report = this.#reportIfReadable();
      this.#reported = report === null ? null : { text: JSON.stringify(report), atMs: nowMs };
    }
    return this.#reported?.text ?? null;
  }

  /** What is wrong with a state file ends no beat: whoever works on it meets that. */
  #reportIfReadable(): HostReport | null {
    try {
      return this.#newReport();
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error;
      return null;
    }
  }

  #newReport(): HostReport | null {
    const { daemons, config, platformName, platformNow } = this.#input;
    const sources = this.#input.sources();
    if (sources === null) return null;
    const { own, blocked, view } = this.#input.situation();
    const notifications = this.#notifications?.id ?? null;
    const halted = own.flatMap((unit) => {
      const reason = blocked.get(unit.name);
      return reason === undefined ? [] : unit.sources.map(({ name }) => [name, reason] as const);
    });
    const ageMs = view?.units.find(({ id }) => id === notifications)?.settledAgeMs ?? null;
    const isSummedUp = config().notify?.on.has('summary') === true && ageMs !== null;
    return {
      sources,
      units: own.map(({ id }) => id),
      notifications,
      share: this.#input.share(),
      ...this.#reporter.report({
        running: daemons.running,
        platformName: platformName(config()),
        platformNow: platformNow(),
        halted: new Map(halted),
        summedUpMs: isSummedUp ? systemClock.now() - ageMs : null,
      }),
    };
  }

  #seen(): AllSeen {
    const { view, alive, own } = this.#input.situation();
    const unit = this.#notifications?.id ?? null;
    const names = new Set(alive.map(({ name }) => name));
    const hosts = (view?.hosts ?? []).map(({ name }): SeenHost => {
      const report = this.#input.reports.known.get(name) ?? null;
      // One that only comes for a pass says nothing of itself.
      const isToldHere = report === null || report.notifications === unit;
      return { name, isAlive: names.has(name), isToldHere, report };
    });
    const shared = own.filter(({ isPinned }) => !isPinned).map(({ id }) => id);
    return {
      units: view?.units ?? [],
      hosts,
      wanted: new Set([...shared, ...alive.flatMap((one) => one.units)]),
    };
  }
}
