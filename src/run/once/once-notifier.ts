import type { Delivery } from '../../domain/notice.ts';
import type { Notifications } from '../../notify/notifications.ts';
import type { Log } from '../../service/logger.ts';
import type { SyncContext } from '../../sync/pass/sync-context.ts';
import type { Health } from '../take-snapshot.ts';
import type { Holding } from '../holding.ts';
import type { Notifier } from '../notifier.ts';
import { stopWithin } from '../stop.ts';

/** Maximum time that a finished pass waits for its notifications, milliseconds. */
const PATIENCE_MS = 10_000;

/** Sends notifications about the result of a single pass. */
export class OnceNotifier {
  readonly #notifier: Notifier;
  readonly #log: Log;
  readonly #stop: AbortSignal;
  #notifications: Notifications | null = null;
  #health: Health = {
    credentials: { kind: 'unknown' },
    reach: 'unknown',
    hasBegun: false,
    configurationProblem: null,
  };

  /** @param stop - ends it at once. */
  constructor(notifier: Notifier, log: Log, stop: AbortSignal) {
    this.#notifier = notifier;
    this.#log = log;
    this.#stop = stop;
  }

  /** True if any file is announced. */
  get announces(): boolean {
    return this.#notifier.announces;
  }

  /** Sets the holding that the pass runs. Throws `StateFileError`. */
  attach(holding: Holding): void {
    this.#notifications = this.#notifier.begin({
      ...holding,
      platformNow: () => holding.clients().files().now(),
      health: () => this.#health,
      ended: () => undefined,
    });
  }

  /** Records a file that reached the platform. Throws `StateFileError`. */
  delivered(delivery: Delivery): void {
    this.#notifications?.delivered(delivery);
  }

  /** Records the health at the end of the pass. */
  passEnded({ round, breaker }: SyncContext): void {
    const { refusal } = round.blockade;
    this.#health = {
      credentials: refusal === null ? { kind: 'taken' } : { kind: 'refused', reason: refusal },
      reach: breaker.isOpen ? 'lost' : 'there',
      hasBegun: true,
      configurationProblem: null,
    };
  }

  /** Sends the notifications, for at most 10 s. Sends none after an interrupted pass. */
  async tell(): Promise<void> {
    if (this.#stop.aborted) return;
    try {
      await this.#notifications?.once(stopWithin(PATIENCE_MS, this.#stop));
    } catch (error) {
      // A failed notification does not change the result of the pass.
      this.#log.error('notification failed', { reason: (error as Error).message });
    }
  }
}
