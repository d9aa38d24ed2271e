import type { Delivery } from '../domain/delivery.ts';
import { compilePattern } from '../domain/rules.ts';
import { judgeDelivery } from './announcement.ts';

/** A file that waits to be announced. `notedAtMs`: epoch milliseconds. */
export interface Announcement {
  readonly target: number;
  readonly key: string;
  readonly sha256: Buffer;
  readonly url: string;
  readonly notedAtMs: number;
}

/** Remembers which files are to be announced, and which were. */
export interface AnnouncementMemory {
  readonly isAnnounced: (target: number, sha256: Buffer) => boolean;
  readonly pendingAnnouncements: () => readonly Announcement[];
  readonly addAnnouncement: (announcement: Announcement) => void;
  readonly closeAnnouncement: (announcement: Pick<Announcement, 'target' | 'sha256'>) => void;
}

/** What taking note of deliveries needs of the rest of the program. */
export interface AnnouncementPorts {
  readonly memory: AnnouncementMemory;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: { readonly warn: (message: string, fields?: object) => void };
  /** A file is not announced. */
  readonly dropped: () => void;
}

/** So many files wait to be announced at a time: more at once are not news, but a folder that was filled. */
const MOST_WAITING = 50;

/** More warnings about files are not worth the memory. */
const MOST_WARNED = 1000;

/** Takes note of the files that are to be announced. */
export class Announcements {
  readonly #ports: AnnouncementPorts;
  readonly #matches: (path: string) => boolean;
  readonly #warned = new Set<string>();

  /** @param patterns - of the files that are announced (`notify.announce`). */
  constructor(patterns: readonly string[], ports: AnnouncementPorts) {
    const compiled = patterns.map(compilePattern);
    this.#ports = ports;
    this.#matches = (path) => compiled.some((matches) => matches(path));
  }

  /** Takes note of a file that has reached the platform. Throws what the memory throws. */
  delivered(delivery: Delivery): void {
    const { log } = this.#ports;
    const verdict = judgeDelivery(delivery, this.#matches);
    const { source, path, target, key, sha256 } = delivery;
    switch (verdict.kind) {
      case 'none':
        break;
      case 'warn': {
        const name = `${source}\n${path}`;
        if (this.#warned.has(name) || this.#warned.size >= MOST_WARNED) break;
        this.#warned.add(name);
        log.warn(verdict.message, { source, path });
        break;
      }
      case 'announce':
        if (!this.note({ target, key, sha256, url: verdict.url, notedAtMs: this.#ports.now() }))
          log.warn('is not announced: too many files are waiting to be announced', { source, path });
        break;
    }
  }

  /** Takes note of a file that is to be announced, unless it was. `false`: too many wait. Throws what the memory throws. */
  note(announcement: Announcement): boolean {
    const { memory, dropped } = this.#ports;
    const { target, sha256 } = announcement;
    if (memory.isAnnounced(target, sha256)) return true;
    const isTooMany = memory.pendingAnnouncements().length >= MOST_WAITING;
    memory.addAnnouncement(announcement);
    if (!isTooMany) return true;
    memory.closeAnnouncement({ target, sha256 });
    dropped();
    return false;
  }
}
