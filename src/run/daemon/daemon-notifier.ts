import type { Delivery } from '../../domain/notice.ts';
import type { MessageOutcome, Notifications } from '../../notify/notifications.ts';
import { Bell } from '../../service/bell.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { Daemon } from '../../sync/daemon/daemon.ts';
import type { Holding } from '../holding.ts';
import type { NotifiedRun, Notifier } from '../notifier.ts';
import type { Health } from '../take-snapshot.ts';

interface DaemonNotifierInput {
  readonly log: Log;
  /** Returns why the configuration on disk cannot be loaded; `null`: it can. */
  readonly configurationProblem: () => string | null;
  readonly platformNow: NotifiedRun['platformNow'];
  readonly ended: (outcome: MessageOutcome) => void;
}

/** A daemon that sends notifications. */
export interface NotifiedDaemon extends Pick<Holding, 'state' | 'config' | 'unit'> {
  readonly daemon: Pick<Daemon, 'activity' | 'refusal'>;
}

/** The notifications of all daemons of a process, under changing configurations. */
export class DaemonNotifier {
  readonly #input: DaemonNotifierInput;
  readonly #sent = new Map<StateStore, SentNotifications>();
  #notifier: Notifier | null = null;

  constructor(input: DaemonNotifierInput) {
    this.#input = input;
  }

  /** True if any file is announced. */
  get announces(): boolean {
    return this.#notifier?.announces === true;
  }

  /**
   * Continues with another notifier and closes the previous one; `null`: without notifications. Failures are only
   * logged: files are more important, and a reload must complete.
   */
  async adopt(notifier: Notifier | null): Promise<void> {
    await this.#stopAll();
    const before = this.#notifier;
    this.#notifier = notifier;
    for (const sent of this.#sent.values()) {
      try {
        sent.begin(notifier);
      } catch (error) {
        // The daemon meets the error in its state file itself.
        this.#input.log.error('notifications are paused', { reason: (error as Error).message });
      }
    }
    await this.#close(before);
  }

  /** Sends notifications about a daemon until `detach` or `close`. Throws `StateFileError`. */
  attach({ daemon, state, config, unit }: NotifiedDaemon): void {
    const { log, configurationProblem, platformNow, ended } = this.#input;
    const health = (): Health => healthOf(daemon, configurationProblem());
    const sent = new SentNotifications({ state, config, health, platformNow, ended, unit }, log);
    sent.begin(this.#notifier);
    this.#sent.set(state, sent);
  }

  /** Ends the notifications about the daemon of a state that is about to be closed. Cuts off running ones. */
  async detach(state: StateStore): Promise<void> {
    const sent = this.#sent.get(state);
    this.#sent.delete(state);
    await sent?.stop();
  }

  /** Records a file of a state that reached the platform. Throws `StateFileError`. */
  delivered(state: StateStore, delivery: Delivery): void {
    this.#sent.get(state)?.delivered(delivery);
  }

  /** Looks for notifications to send. */
  wake(): void {
    for (const sent of this.#sent.values()) sent.wake();
  }

  /** Ends all notifications. */
  async close(): Promise<void> {
    await this.#stopAll();
    this.#sent.clear();
    await this.#close(this.#notifier);
    this.#notifier = null;
  }

  async #stopAll(): Promise<void> {
    await Promise.all([...this.#sent.values()].map((sent) => sent.stop()));
  }

  async #close(notifier: Notifier | null): Promise<void> {
    try {
      await notifier?.close();
    } catch (error) {
      const reason = (error as Error).message;
      this.#input.log.warn('the connection for notifications could not be closed', { reason });
    }
  }
}

/** The notifications about one daemon. */
class SentNotifications {
  readonly #run: NotifiedRun;
  readonly #log: Log;
  readonly #bell = new Bell();
  #notifications: Notifications | null = null;
  #stopping = new AbortController();
  /** Resolves when nothing here uses the state any more. */
  #ended: Promise<void> = Promise.resolve();

  constructor(run: NotifiedRun, log: Log) {
    this.#run = run;
    this.#log = log;
  }

  /** Continues with another notifier; `null`: sends nothing. Throws `StateFileError`. */
  begin(notifier: Notifier | null): void {
    this.#stopping.abort();
    this.#notifications = null;
    if (notifier === null) return;
    const notifications = notifier.begin(this.#run);
    const stopping = new AbortController();
    this.#notifications = notifications;
    this.#stopping = stopping;
    const pause = (ms: number, signal: AbortSignal): Promise<void> =>
      this.#bell.wait(systemClock, ms, signal);
    const ended = notifications.run(pause, stopping.signal).catch((error: unknown) => {
      // Files are more important than any failure here. The daemon meets an error in its state file itself.
      this.#log.error('notifications are off', { reason: (error as Error).message });
    });
    const before = this.#ended;
    this.#ended = before.then(() => ended);
  }

  /** Records a file that reached the platform. Throws `StateFileError`. */
  delivered(delivery: Delivery): void {
    this.#notifications?.delivered(delivery);
  }

  /** Looks for notifications to send. */
  wake(): void {
    this.#bell.ring();
  }

  /** Cuts off running notifications; resolves when nothing uses the state any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }
}

/** Returns the health of a daemon, which its state file does not contain. */
export function healthOf(
  { activity, refusal }: NotifiedDaemon['daemon'],
  configurationProblem: string | null,
): Health {
  // During a pass, the platform may not have been asked yet.
  const isKnown = activity.activity === 'watching';
  const hasPassed = activity.activity !== 'starting';
  return {
    credentials:
      refusal === null ? { kind: isKnown ? 'taken' : 'unknown' } : { kind: 'refused', reason: refusal },
    reach: activity.platformOutOfReach ? 'lost' : hasPassed ? 'there' : 'unknown',
    // A first pass may take hours, and renewals do not wait for it.
    hasBegun: true,
    configurationProblem,
  };
}
