import { backoffMs, type Backoff } from '../domain/retry.ts';
import type { Clock } from '../domain/clock.ts';
import type { Delivery, NotifySettings } from '../domain/notice.ts';
import type { LookupFailure } from '../domain/failure.ts';
import { Announcements, type AnnouncementMemory } from './announcements.ts';
import { decideNotices, visibleTroubles, type Notice, type Step, type LastNotice } from './decide.ts';
import type { NotificationChannel, OutgoingMessage } from './channel.ts';
import { see, subjectOf, topicOf, type Sightings, type Snapshot } from './trouble.ts';
import { wordNotice, wordSummary, type Figures, type Wording } from './words.ts';

/** Stores the sent notices and the waiting announcements. */
export interface NoticeMemory extends AnnouncementMemory {
  readonly told: () => ReadonlyMap<string, LastNotice>;
  readonly saveTold: (name: string, told: LastNotice | null) => void;
}

/** `dropped`: the message is not retried. */
export type MessageOutcome = 'sent' | 'failed' | 'dropped';

export interface NotificationPorts {
  readonly memory: NoticeMemory;
  readonly channel: NotificationChannel;
  readonly snapshot: () => Snapshot;
  /** @param sinceMs - epoch milliseconds of the last summary. */
  readonly figures: (sinceMs: number) => Figures;
  readonly wording: Wording;
  readonly clock: Clock;
  readonly log: {
    readonly debug: (message: string, fields?: object) => void;
    readonly warn: (message: string, fields?: object) => void;
  };
  readonly ended: (outcome: MessageOutcome) => void;
}

/** The interval of snapshots, milliseconds. */
const EVERY_MS = 10_000;

/** How long a trouble has to be smaller, or gone, before that counts, milliseconds. */
const SETTLE_MS = 15_000;

const DELAY: Backoff = { firstMs: 30_000, longestMs: 900_000 };

/** An announcement older than this is dropped, milliseconds. */
const OLDEST_NEWS_MS = 86_400_000;

/** Sends notices and announcements. Nothing else waits for its messages. */
export class Notifications {
  readonly #settings: NotifySettings;
  readonly #ports: NotificationPorts;
  readonly #told: Map<string, LastNotice>;
  readonly #announcements: Announcements;
  #seen: Sightings = new Map();
  #failures = 0;
  /** By the monotonic clock, milliseconds. */
  #notBeforeMs = -Infinity;

  /** Throws what the memory throws. */
  constructor(settings: NotifySettings, ports: NotificationPorts) {
    const { memory, clock, log, ended } = ports;
    this.#settings = settings;
    this.#ports = ports;
    this.#told = new Map(memory.told());
    this.#announcements = new Announcements(settings.announce, {
      memory,
      now: clock.now,
      log,
      dropped: () => {
        ended('dropped');
      },
    });
  }

  /** Handles a file that has reached the platform. Throws what the memory throws. */
  delivered(delivery: Delivery): void {
    this.#announcements.delivered(delivery);
  }

  /**
   * Sends notifications until the signal aborts. Throws what the memory throws.
   *
   * @param pause - waits for a time in milliseconds, or until something may have changed.
   */
  async run(pause: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#round(true, signal);
      await pause(EVERY_MS, signal);
    }
  }

  /** Sends the notifications of a single pass. Throws what the memory throws. */
  async once(signal: AbortSignal): Promise<void> {
    await this.#round(false, signal);
  }

  async #round(isPatient: boolean, signal: AbortSignal): Promise<void> {
    const { clock, channel } = this.#ports;
    const snapshot = this.#ports.snapshot();
    const nowMs = clock.now();
    this.#seen = see(this.#seen, snapshot, nowMs, SETTLE_MS);
    const steps = decideNotices(
      { snapshot, seen: this.#seen, memory: this.#told, nowMs },
      this.#settings,
      isPatient,
    );
    for (const step of steps) if (step.notice === null) this.#remember(step);
    if (clock.monotonic() < this.#notBeforeMs) return;
    if (isPatient) {
      const opened = await channel.open(signal);
      if (opened.kind === 'failed') {
        this.#failed('there is no conversation for notifications', opened.failure, signal);
        return;
      }
    }
    for (const step of steps) {
      if (step.notice === null) continue;
      const message = { text: this.#word(step.notice, snapshot), ...aboutNotice(step.notice) };
      if (!(await this.#send(message, signal))) return;
      this.#remember(step);
    }
    await this.#announce(signal);
  }

  #word(notice: Notice, snapshot: Snapshot): string {
    const { wording, figures } = this.#ports;
    if (notice.kind !== 'summary') return wordNotice(notice, wording);
    const troubles = visibleTroubles(snapshot, this.#seen, this.#told, this.#settings.on);
    return wordSummary(figures(notice.sinceMs), troubles, notice.sinceMs, wording);
  }

  #remember({ name, told }: Step): void {
    this.#ports.memory.saveTold(name, told);
    if (told === null) this.#told.delete(name);
    else this.#told.set(name, told);
  }

  async #send(message: OutgoingMessage, signal: AbortSignal): Promise<boolean> {
    const { channel, log, ended } = this.#ports;
    const sent = await channel.send(message, signal);
    if (sent.kind === 'failed') {
      this.#failed('notification failed', sent.failure, signal);
      return false;
    }
    this.#failures = 0;
    ended('sent');
    log.debug('notification sent', sent.value);
    return true;
  }

  #failed(what: string, { message }: LookupFailure, signal: AbortSignal): void {
    const { clock, log, ended } = this.#ports;
    // A reason in words is reported; other aborts are silent.
    if (signal.aborted && typeof signal.reason !== 'string') return;
    this.#failures += 1;
    const delayMs = backoffMs(DELAY, this.#failures);
    this.#notBeforeMs = clock.monotonic() + delayMs;
    ended('failed');
    log.warn(`${what}: ${message}`, { again: signal.aborted ? 'with the next pass' : `in ${delayMs} ms` });
  }

  async #announce(signal: AbortSignal): Promise<void> {
    const { memory, channel, clock, log, ended } = this.#ports;
    for (const waiting of memory.pendingAnnouncements()) {
      const { key, url, notedAtMs } = waiting;
      const drop = (reason: string): void => {
        memory.closeAnnouncement(waiting);
        ended('dropped');
        log.warn(`is not announced: ${reason}`, { key });
      };
      if (clock.now() - notedAtMs > OLDEST_NEWS_MS) {
        drop('retries failed for a day');
        continue;
      }
      const sent = await channel.announce({ key, url }, signal);
      if (sent.kind === 'ok') {
        memory.closeAnnouncement(waiting);
        this.#failures = 0;
        ended('sent');
        log.debug('announced', { key, ...sent.value });
      } else if (sent.failure.kind === 'refused') drop(sent.failure.message);
      else {
        this.#failed('a file could not be announced', sent.failure, signal);
        return;
      }
    }
  }
}

function aboutNotice(notice: Notice): Omit<OutgoingMessage, 'text'> {
  switch (notice.kind) {
    case 'began':
    case 'grew': {
      const { trouble } = notice;
      const subject = subjectOf(trouble);
      const files = 'count' in trouble ? trouble.count : null;
      return { event: notice.kind, topic: topicOf(subject), source: subject.source, files };
    }
    case 'over':
      return { event: 'over', topic: topicOf(notice.subject), source: notice.subject.source, files: null };
    case 'summary':
      return { event: 'summary', topic: 'summary', source: null, files: null };
  }
}
