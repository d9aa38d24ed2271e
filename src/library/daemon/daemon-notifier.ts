import type { Delivery } from '../../domain/delivery.ts';
import type { Announcement } from '../../notify/announcements.ts';
import type { Notifications } from '../../notify/notifications.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import { Bell } from '../../service/bell.ts';
import type { Health } from '../take-snapshot.ts';
import type { DaemonView } from './daemons.ts';
import type { Notifier, NotifiedRun } from '../notifier.ts';

/** Tells people how a daemon fares beside its work, one state file and one configuration after the other. */
export class DaemonNotifier {
  readonly #log: Log;
  readonly #bell = new Bell();
  #notifier: Notifier | null = null;
  /** The run to tell of; `null` while there is none. */
  #run: NotifiedRun | null = null;
  #notifications: Notifications | null = null;
  #stopping = new AbortController();
  /** Resolves when nothing of it uses the state file any more. */
  #ended: Promise<void> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Whether it wants to know of deliveries. */
  get announces(): boolean {
    return this.#notifier?.announces === true;
  }

  /**
   * Goes on under another configuration; `null`: people are told nothing. The one before is closed. Failures are logged:
   * files are more important, and a reload that has begun must come to its end.
   */
  async adopt(notifier: Notifier | null): Promise<void> {
    await this.#stop();
    const before = this.#notifier;
    this.#notifier = notifier;
    try {
      this.#begin();
    } catch (error) {
      // The daemon meets by itself what is wrong with the state file.
      this.#log.error('notifications are paused', { reason: (error as Error).message });
    }
    await this.#close(before);
  }

  /** Begins to tell of a run with an open state file. Throws `StateFileError`. */
  attach(run: NotifiedRun): void {
    this.#run = run;
    this.#begin();
  }

  /** Ends it: the state file is about to be closed. What is running is broken off. */
  async detach(): Promise<void> {
    this.#run = null;
    this.#notifications = null;
    await this.#stop();
  }

  /** There may be something to tell. */
  wake(): void {
    this.#bell.ring();
  }

  /** Takes note of a file that has reached the platform. Throws `StateFileError`. */
  delivered(delivery: Delivery): void {
    this.#notifications?.delivered(delivery);
  }

  /** Takes note of a file that is to be announced. `false`: people are not told just now. Throws `StateFileError`. */
  note(announcement: Announcement): boolean {
    this.#notifications?.note(announcement);
    return this.#notifications !== null;
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await this.detach();
    await this.#close(this.#notifier);
    this.#notifier = null;
  }

  async #close(notifier: Notifier | null): Promise<void> {
    try {
      await notifier?.close();
    } catch (error) {
      const reason = (error as Error).message;
      this.#log.warn('the connection for notifications could not be closed', { reason });
    }
  }

  #begin(): void {
    // A run may have begun while another one was waited for.
    this.#stopping.abort();
    this.#notifications = null;
    if (this.#run === null || this.#notifier === null) return;
    const notifications = this.#notifier.begin(this.#run);
    const stopping = new AbortController();
    const { refresh } = this.#run;
    const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
      await this.#bell.wait(systemClock, ms, signal);
      if (!signal.aborted) await refresh?.();
    };
    this.#notifications = notifications;
    this.#stopping = stopping;
    const ended = notifications.run(pause, stopping.signal).catch((error: unknown) => {
      // Whatever it is: files are more important. The daemon meets by itself what is wrong with the state file.
      this.#log.error('notifications are off', { reason: (error as Error).message });
    });
    const before = this.#ended;
    this.#ended = before.then(() => ended);
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }
}

/** How a daemon stands, beyond what its state file says. */
export function healthOf(daemon: Pick<DaemonView, 'activity' | 'refusal'> | null): Health {
  const activity = daemon?.activity;
  const refusal = daemon?.refusal ?? null;
  // In the midst of a pass nobody has to have asked the platform yet.
  const isKnown = activity?.activity === 'watching';
  const hasPassed = activity !== undefined && activity.activity !== 'starting';
  return {
    credentials:
      refusal === null ? { kind: isKnown ? 'taken' : 'unknown' } : { kind: 'refused', reason: refusal },
    reach: activity?.platformOutOfReach === true ? 'lost' : hasPassed ? 'there' : 'unknown',
    // A first pass may take hours, and renewals do not wait for its end.
    hasBegun: daemon !== null,
  };
}
