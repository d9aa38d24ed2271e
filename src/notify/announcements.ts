import type { Delivery } from '../domain/notice.ts';
import { compilePattern } from '../domain/pattern.ts';

/** A file that waits to be announced. `notedAtMs`: epoch milliseconds. */
export interface Announcement {
  readonly target: number;
  readonly key: string;
  readonly sha256: Buffer;
  readonly url: string;
  readonly notedAtMs: number;
}

/** Stores which files wait to be announced, and which were. */
export interface AnnouncementMemory {
  readonly isAnnounced: (target: number, sha256: Buffer) => boolean;
  readonly pendingAnnouncements: () => readonly Announcement[];
  readonly addAnnouncement: (announcement: Announcement) => void;
  readonly closeAnnouncement: (announcement: Pick<Announcement, 'target' | 'sha256'>) => void;
}

export interface AnnouncementPorts {
  readonly memory: AnnouncementMemory;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: { readonly warn: (message: string, fields?: object) => void };
  /** Called for each file that is not announced because too many wait. */
  readonly dropped: () => void;
}

/** The most files that wait to be announced: more at once are not news, but a filled folder. */
const MOST_WAITING = 50;

/** The most warnings about files, to bound memory. */
const MOST_WARNED = 1000;

/** Decides which files are announced, and stores them. */
export class Announcements {
  readonly #ports: AnnouncementPorts;
  readonly #matches: (path: string) => boolean;
  readonly #warned = new Set<string>();

  /** @param patterns - `notify.announce` */
  constructor(patterns: readonly string[], ports: AnnouncementPorts) {
    const compiled = patterns.map(compilePattern);
    this.#ports = ports;
    this.#matches = (path) => compiled.some((matches) => matches(path));
  }

  /** Handles a file that has reached the platform. Throws what the memory throws. */
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
        if (!this.#note({ target, key, sha256, url: verdict.url, notedAtMs: this.#ports.now() }))
          log.warn('is not announced: too many files are waiting to be announced', { source, path });
        break;
    }
  }

  /** Stores an announcement, unless the content was announced before. `false`: too many wait. Throws what the memory throws. */
  #note(announcement: Announcement): boolean {
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

export type AnnouncementDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'announce'; readonly url: string }
  | { readonly kind: 'warn'; readonly message: string };

const NONE: AnnouncementDecision = { kind: 'none' };

/** Decides whether a file is announced. `matches` takes its path in the source, NFC. */
export function judgeDelivery(
  { path, isPublic, publicUrl }: Delivery,
  matches: (path: string) => boolean,
): AnnouncementDecision {
  if (!matches(path.normalize('NFC'))) return NONE;
  if (!isPublic) {
    const message =
      'is not announced, because it is not accessible: no rule gives it "accessPolicies": ["public_content"]';
    return { kind: 'warn', message };
  }
  if (publicUrl === null)
    return { kind: 'warn', message: 'is not announced: the platform named no address of its content' };
  return { kind: 'announce', url: publicUrl };
}
