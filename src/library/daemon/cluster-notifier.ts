import { systemClock } from '../../service/system-clock.ts';
import type { MessageOutcome } from '../../notify/notifications.ts';
import { SUMMARY } from '../../notify/decide.ts';
import type { StateStore } from '../../state/state-store.ts';
import { announcementIn } from '../cluster/announcement-outbox.ts';
import type { WorkedUnit } from '../cluster/held-unit.ts';
import { figuresOfAll, hostsToldOf, snapshotOfAll, type AllSeen } from '../cluster/snapshot-of-all.ts';
import type { ToldBefore } from '../cluster/told-before.ts';
import type { DaemonNotifier } from './daemon-notifier.ts';

/** A host says something new of itself no sooner than after so long, milliseconds. */
export const REPORT_MS = 5000;

/** What telling people for all hosts needs. */
export interface ClusterNotifierPorts {
  readonly notifier: Pick<DaemonNotifier, 'attach' | 'detach' | 'note'>;
  /** Asks how all hosts stand; resolves in any case, and soon. */
  readonly look: () => Promise<void>;
  /** How they stood when they were asked last. */
  readonly seen: () => AllSeen;
  /** What hosts told people before one told them for all. Throws `DatabaseError`. */
  readonly toldBefore: () => Promise<ToldBefore>;
  readonly ended: (outcome: MessageOutcome) => void;
}

/** Tells people for all hosts, while this one holds the notifications. */
export class ClusterNotifier {
  readonly #ports: ClusterNotifierPorts;
  #worked: WorkedUnit | null = null;

  constructor(ports: ClusterNotifierPorts) {
    this.#ports = ports;
  }

  /** When people were told the last summary, epoch milliseconds; `null`: never, or by another host. */
  get summedUpMs(): number | null {
    return this.#worked?.state.notices.told().get(SUMMARY)?.toldAtMs ?? null;
  }

  /** Tells people until it is stopped. Throws `StateFileError`, `DatabaseError`. */
  async run(worked: WorkedUnit): Promise<void> {
    const { notifier, look, seen, ended } = this.#ports;
    const { state, lease, stop, abort } = worked;
    const either = AbortSignal.any([stop, abort]);
    if (worked.isNew) await this.#goOnFrom(state);
    const refresh = async (): Promise<void> => {
      await look();
      // Another host may tell people by now.
      await lease.proven(either);
    };
    this.#worked = worked;
    try {
      // Whoever lives has said by then how it stands, and of who does not it is known.
      await systemClock.sleep(lease.leaseMs + 2 * REPORT_MS, either);
      await refresh();
      if (either.aborted) return;
      notifier.attach({
        notices: state.notices,
        look: { snapshot: () => snapshotOfAll(seen()), figures: () => figuresOfAll(seen()) },
        hosts: () => hostsToldOf(seen()),
        refresh,
        ended,
      });
      await aborted(either);
    } finally {
      this.#worked = null;
      await notifier.detach();
    }
  }

  /** Takes note, for good, of files that hosts have sent, and that are to be announced. `false`: not now. Throws `StateFileError`, `DatabaseError`. */
  async note(bodies: readonly unknown[]): Promise<boolean> {
    const worked = this.#worked;
    if (worked === null) return false;
    await worked.loadTargets();
    // It may have been lost meanwhile.
    if (this.#worked !== worked) return false;
    const announcements = bodies.flatMap((body) => announcementIn(body) ?? []);
    if (!announcements.every((one) => this.#ports.notifier.note(one))) return false;
    await worked.state.settled();
    return true;
  }

  /** People are not told anew what a host told them while each did so by itself, nor in another conversation. */
  async #goOnFrom(state: StateStore): Promise<void> {
    const { told, conversations } = await this.#ports.toldBefore();
    for (const { purpose, id, isProven } of conversations) {
      state.notices.saveConversation(purpose, id);
      if (isProven) state.notices.proveConversation(purpose);
    }
    for (const [subject, notice] of told) state.notices.saveTold(subject, notice);
    if (!told.has(SUMMARY)) state.notices.saveTold(SUMMARY, { toldAtMs: systemClock.now(), count: null });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
