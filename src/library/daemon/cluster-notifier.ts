import type { Clock } from '../../domain/clock.ts';
import type { MessageOutcome } from '../../notify/notifications.ts';
import { SUMMARY } from '../../notify/decide.ts';
import { StateFileError } from '../../state/database.ts';
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
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Names where people are told under the configuration of now; `null`: they are told nothing. */
  readonly place: () => string | null;
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
  /** Where people are told by it, and what ends that before it is stopped. */
  #telling: { readonly place: string | null; readonly leave: AbortController } | null = null;

  constructor(ports: ClusterNotifierPorts) {
    this.#ports = ports;
  }

  /** When people were told the last summary, epoch milliseconds; `null`: never, or by another host. */
  get summedUpMs(): number | null {
    return this.#worked?.state.notices.told().get(SUMMARY)?.toldAtMs ?? null;
  }

  /** Tells people until it is stopped, or is to tell them elsewhere. Throws `StateFileError`, `DatabaseError`. */
  async run(worked: WorkedUnit): Promise<void> {
    const { notifier, clock, place, look, seen, ended } = this.#ports;
    const { state, lease, stop, abort } = worked;
    const leave = new AbortController();
    const either = AbortSignal.any([stop, abort, leave.signal]);
    let failure: Error | null = null;
    this.#telling = { place: place(), leave };
    if (worked.isNew) await this.#goOnFrom(state);
    const refresh = async (): Promise<void> => {
      await look();
      // Another host may tell people by now.
      await lease.proven(either);
    };
    this.#worked = worked;
    try {
      // Whoever lives has said by then how it stands, and of who does not it is known.
      await clock.sleep(lease.leaseMs + 2 * REPORT_MS, either);
      await refresh();
      if (either.aborted) return;
      notifier.attach({
        notices: state.notices,
        look: { snapshot: () => snapshotOfAll(seen()), figures: () => figuresOfAll(seen()) },
        hosts: () => hostsToldOf(seen()),
        refresh,
        ended,
        failed: (error) => {
          failure = error;
          leave.abort();
        },
      });
      await aborted(either);
      // Another host may be able to.
      throwIfOfState(failure);
    } finally {
      this.#worked = null;
      this.#telling = null;
      await notifier.detach();
    }
  }

  /** The configuration changed. Resolves once people are told nothing any more where they are not to be told from now on. */
  async reload(): Promise<void> {
    if (this.#telling === null || this.#telling.place === this.#ports.place()) return;
    this.#telling.leave.abort();
    await this.#ports.notifier.detach();
  }

  /** Takes note, for good, of files that hosts have sent, and that are to be announced. `false`: not now. Throws `StateFileError`, `DatabaseError`. */
  async note(bodies: readonly unknown[]): Promise<boolean> {
    const worked = this.#worked;
    if (worked === null) return false;
    const targets = await worked.loadTargets();
    // It may have been lost meanwhile.
    if (this.#worked !== worked) return false;
    // Anybody whom the database lets in may have written them: what makes no sense is passed over.
    const announcements = bodies
      .flatMap((body) => announcementIn(body) ?? [])
      .filter(({ target }) => targets.has(target));
    if (!announcements.every((one) => this.#ports.notifier.note(one))) return false;
    await worked.state.settled();
    return true;
  }

  /** People are not told anew what a host told them while each did so by itself, nor in another conversation. */
  async #goOnFrom(state: StateStore): Promise<void> {
    const { told, conversations } = await this.#ports.toldBefore();
    for (const [purpose, { id, isProven }] of conversations) {
      state.notices.saveConversation(purpose, id);
      if (isProven) state.notices.proveConversation(purpose);
    }
    for (const [subject, notice] of told) state.notices.saveTold(subject, notice);
    if (!told.has(SUMMARY))
      state.notices.saveTold(SUMMARY, { toldAtMs: this.#ports.clock.now(), count: null });
  }
}

function throwIfOfState(error: Error | null): void {
  if (error instanceof StateFileError) throw error;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
