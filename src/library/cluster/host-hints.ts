import { decodeHint, encodeHint, HINT_CHANNEL, notifyHints } from '../../cluster/hints.ts';
import type { Config, SourceConfig } from '../../config/config.ts';
import { beatMs } from '../../domain/lease.ts';
import { legiblePart, type Hint } from '../../domain/hint.ts';
import { Bell } from '../../service/bell.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { Daemon } from '../../sync/daemon/daemon.ts';
import { Watches } from '../../sync/daemon/watches.ts';
import { lookAtPath } from '../../sync/sources/path-look.ts';
import { IGNORE_FILE } from '../../sync/sources/source.ts';
import { countOf, HintSender } from './hint-sender.ts';
import type { Cluster } from './open-cluster.ts';
import { seesAll, type OwnUnit } from './own-units.ts';

/** How often directories are looked at, and who syncs them, milliseconds. */
const TICK_MS = 2000;

/** A directory that does not answer within so long is left alone: whoever asks it himself may wait for ever. Milliseconds. */
const PATIENCE_MS = 1000;

/** What a host's part in the hints of its cluster is made of. */
export interface HostHintsInput {
  readonly cluster: Cluster;
  /** The configuration of now. */
  readonly config: () => Config;
  /** What the platform is called in records. */
  readonly platformName: (config: Config) => string;
  /** The units of the configuration, as far as the ledger has them. */
  readonly own: () => readonly OwnUnit[];
  /** The daemon that syncs a source on this host; `null`: there is none. */
  readonly daemonOf: (source: string) => Pick<Daemon, 'hear' | 'watchListener'> | null;
  /** Told how many paths this host named to others, or was named; everything counts as one. */
  readonly onHints: (direction: 'sent' | 'received', count: number) => void;
  readonly log: Log;
}

/**
 * Watches what this host itself writes to sources that any host may sync, which those do not see that poll a share. The one that
 * syncs a source is told where to look: the daemon of this host at once, another host by a hint.
 */
export class HostHints {
  readonly #input: HostHintsInput;
  readonly #sender: HintSender;
  readonly #watches: Watches;
  readonly #bell = new Bell();
  /** Sources whose directories have been there: they are followed from then on. */
  readonly #met = new Set<string>();
  /** What is watched, and by which configuration. */
  #watched: { readonly config: Config; readonly names: string } | null = null;
  /** Sources of which people were told that not all of them can be watched. */
  readonly #limited = new Set<string>();

  constructor(input: HostHintsInput) {
    const { onHints } = input;
    this.#input = input;
    this.#sender = new HintSender({
      clock: systemClock,
      send: (source, hint) => this.#send(source, hint),
      sent: (count) => {
        onHints('sent', count);
      },
    });
    this.#watches = new Watches(
      systemClock,
      {
        eventsLost: (source, reason) => {
          this.#lost(source, reason);
        },
        watchLimited: (source, message) => {
          this.#tellLimit(source, message);
        },
      },
      {
        rescan: (source, path) => {
          this.#written(source, path);
        },
        patternsChanged: (source) => {
          this.#written(source, IGNORE_FILE);
          this.#bell.ring();
        },
        // Whoever syncs the source notices by itself that it is another directory.
        pass: () => undefined,
      },
    );
  }

  /** Gives hints, and takes them, while something runs. */
  async during(run: () => Promise<void>): Promise<void> {
    const { database, config } = this.#input.cluster;
    const ending = new AbortController();
    const { signal } = ending;
    const all = Promise.all([
      this.#watch(signal),
      this.#sender.run(signal),
      database.listen(
        HINT_CHANNEL,
        (message) => {
          this.#heard(message);
        },
        (until) => systemClock.sleep(beatMs(config.leaseMs), until),
        signal,
      ),
    ]);
    try {
      await run();
    } finally {
      ending.abort();
      await all;
    }
  }

  async #watch(stop: AbortSignal): Promise<void> {
    try {
      while (!stop.aborted) {
        await this.#follow(stop);
        await this.#bell.wait(systemClock, TICK_MS, stop);
      }
    } finally {
      await this.#watches.close();
    }
  }

  /** Has the watches follow the directories that are there, and whoever syncs them. */
  async #follow(stop: AbortSignal): Promise<void> {
    const { config, platformName } = this.#input;
    const now = config();
    const shared = now.sources.filter((source) => source.host === null && this.#isForUs(source, now));
    const seen = await Promise.all(shared.map((source) => seesAll({ sources: [source] }, PATIENCE_MS)));
    const there = shared.filter((_source, index) => seen[index] === true);
    if (stop.aborted) return;
    for (const { name } of there) this.#met.add(name);
    const sources = shared.filter(({ name }) => this.#met.has(name));
    const names = JSON.stringify(sources.map(({ name }) => name));
    const setting = {
      // The changes of other machines are polled for; those of this one are told of by events.
      config: { ...now, sources, watch: { ...now.watch, poll: false } },
      platformName: platformName(now),
    };
    if (this.#watched?.config !== now || this.#watched.names !== names) {
      this.#watched = { config: now, names };
      await this.#watches.adjust(setting, stop);
    }
    await this.#watches.check({ ...setting, config: { ...setting.config, sources: there } }, () => undefined);
  }

  /** Whether a source is not watched by a daemon of this host. */
  #isForUs({ name }: SourceConfig, { watch }: Config): boolean {
    return watch.poll || this.#input.daemonOf(name) === null;
  }

  #written(source: string, path: string): void {
    const { config, daemonOf } = this.#input;
    const daemon = daemonOf(source);
    if (daemon === null) this.#hint(source, path);
    else if (config().watch.poll) daemon.watchListener.settled(source, [path]);
  }

  #hint(source: string, path: string): void {
    const found = this.#watches.found(source);
    if (found?.kind !== 'found') return;
    const { filter } = found.source;
    const legible = legiblePart(path);
    const look = legible === null ? null : lookAtPath(found.source, legible);
    if (legible === null || look === null) {
      this.#sender.note(source, { kind: 'everything' });
      return;
    }
    const isIgnored = look.kind === 'directory' ? filter.ignores(legible, true) : filter.ignoresFile(legible);
    // Ignored as it is, it says which others are.
    if (isIgnored && legible !== IGNORE_FILE) return;
    this.#sender.note(source, { kind: 'paths', paths: [{ path: legible, look }] });
  }

  #lost(source: string, reason: string): void {
    const { config, daemonOf } = this.#input;
    const daemon = daemonOf(source);
    if (daemon === null) this.#sender.note(source, { kind: 'everything' });
    else if (config().watch.poll) daemon.watchListener.lost(source, reason, systemClock.now());
  }

  #tellLimit(source: string, message: string): void {
    if (this.#limited.has(source)) return;
    this.#limited.add(source);
    this.#input.log.info(`${source}: what this host writes may be noticed late: ${message}`);
  }

  async #send(source: string, hint: Hint): Promise<boolean> {
    const { cluster, own } = this.#input;
    const { host, schema } = cluster.config;
    const unit = own().find((one) => isSharedWith(one, source));
    if (unit === undefined) return false;
    const messages = encodeHint({ schema, host, unit: unit.id, source }, hint);
    await notifyHints(cluster.database.sql, messages);
    return messages.length > 0;
  }

  #heard(message: string): void {
    const { cluster, own, daemonOf, onHints } = this.#input;
    const told = decodeHint(message);
    if (told === null || told.schema !== cluster.config.schema || told.host === cluster.config.host) return;
    const unit = own().find(({ id }) => id === told.unit);
    if (unit === undefined || !isSharedWith(unit, told.source)) return;
    const daemon = daemonOf(told.source);
    if (daemon === null) return;
    daemon.hear(told.source, told.hint);
    onHints('received', countOf(told.hint));
  }
}

function isSharedWith({ isPinned, sources }: OwnUnit, source: string): boolean {
  return !isPinned && sources.some(({ name }) => name === source);
}
