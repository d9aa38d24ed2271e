import { listener } from '../../sync/events.ts';
import { decodeHint, encodeHint } from '../../cluster/hint-messages.ts';
import type { Config, SourceConfig } from '../../config/config.ts';
import { beatMs } from '../../domain/lease.ts';
import { legiblePart, type Hint, type PathLook, type HintedPath } from '../../domain/hint.ts';
import { Bell } from '../../service/bell.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { Daemon } from '../../sync/daemon/daemon.ts';
import { Watches } from '../../sync/daemon/watches.ts';
import { lookAtPath } from '../../sync/sources/presence.ts';
import { IGNORE_FILE } from '../../sync/sources/source.ts';
import type { ClusterHost } from './open-cluster.ts';
import { isDirectoryThere } from './directory-checks.ts';
import type { OwnUnit } from './own-units.ts';
import { DatabaseError } from '../../cluster/shared-ledger.ts';
import type { Clock } from '../../domain/clock.ts';

/** Interval for checking directories and their holders, milliseconds. */
const TICK_MS = 2000;

/** A directory that does not answer within this time is skipped, milliseconds: reading it could block forever. */
const PATIENCE_MS = 1000;

interface HostHintsInput extends ClusterHost {
  /** Returns the units of the configuration that the ledger has. */
  readonly own: () => readonly OwnUnit[];
  readonly daemonOf: (source: string) => Pick<Daemon, 'hear' | 'watchListener'> | null;
  /** Called with the number of paths that this host sent or received; a hint for everything counts as 1. */
  readonly onHints: (direction: 'sent' | 'received', count: number) => void;
}

/**
 * Watches what this host writes to its sources, because a holder that polls a share sees that late. Passes the paths to
 * the daemon of the source: directly on this host, as a hint to other hosts.
 */
export class HostHints {
  readonly #input: HostHintsInput;
  readonly #sender: HintSender;
  readonly #watches: Watches;
  readonly #bell = new Bell();
  /** Sources whose directories have existed: they are watched from then on. */
  readonly #met = new Set<string>();
  #watched: { readonly config: Config; readonly names: string } | null = null;
  /** Sources whose watch limit was logged. */
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
      listener({
        'events-lost': ({ source, reason }) => {
          this.#lost(source, reason);
        },
        'watch-limited': ({ source, message }) => {
          this.#tellLimit(source, message);
        },
      }),
      {
        rescan: (source, path) => {
          this.#written(source, path);
        },
        patternsChanged: (source) => {
          this.#written(source, IGNORE_FILE);
          this.#bell.ring();
        },
        // The holder of the source notices a replaced directory itself.
        pass: () => undefined,
      },
    );
  }

  /** Sends and receives hints while `run` runs. */
  async during(run: () => Promise<void>): Promise<void> {
    const { messages, config } = this.#input.cluster;
    const ending = new AbortController();
    const { signal } = ending;
    const all = Promise.all([
      this.#watch(signal),
      this.#sender.run(signal),
      messages.onHints(
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

  /** Adjusts the watches to the existing directories and to the holders. */
  async #follow(stop: AbortSignal): Promise<void> {
    const { config, platformName } = this.#input;
    const now = config();
    const shared = now.sources.filter((source) => this.#isForUs(source, now));
    const seen = await Promise.all(shared.map(({ directory }) => isDirectoryThere(directory, PATIENCE_MS)));
    const there = shared.filter((_source, index) => seen[index] === true);
    if (stop.aborted) return;
    for (const { name } of there) this.#met.add(name);
    const sources = shared.filter(({ name }) => this.#met.has(name));
    const names = JSON.stringify(sources.map(({ name }) => name));
    const setting = {
      // Events report changes of this machine, even if the holder polls for those of others.
      config: { ...now, sources, watch: { ...now.watch, poll: false } },
      platformName: platformName(now),
    };
    if (this.#watched?.config !== now || this.#watched.names !== names) {
      this.#watched = { config: now, names };
      await this.#watches.adjust(setting, stop);
    }
    await this.#watches.check({ ...setting, config: { ...setting.config, sources: there } }, () => undefined);
  }

  /** Returns whether hints are needed: no daemon of this host watches the source. */
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
    // The ignore file itself is ignored, but it decides about other files.
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
    const unit = own().find((one) => hasSource(one, source));
    if (unit === undefined) return false;
    const messages = encodeHint({ schema, host, unit: unit.id, source }, hint);
    await cluster.messages.sendHints(messages);
    return messages.length > 0;
  }

  #heard(message: string): void {
    const { cluster, own, daemonOf, onHints } = this.#input;
    const told = decodeHint(message);
    if (told === null || told.schema !== cluster.config.schema || told.host === cluster.config.host) return;
    const unit = own().find(({ id }) => id === told.unit);
    if (unit === undefined || !hasSource(unit, told.source)) return;
    const daemon = daemonOf(told.source);
    if (daemon === null) return;
    daemon.hear(told.source, told.hint);
    onHints('received', countOf(told.hint));
  }
}

function hasSource({ sources }: OwnUnit, source: string): boolean {
  return sources.some(({ name }) => name === source);
}

/** With more paths than this in a source, the hint is for everything: the holder rescans. */
const MOST_NAMED = 1000;

/** Time between two sendings, milliseconds. The first hint after a pause is sent at once. */
const SPACING_MS = 250;

interface HintSenderInput {
  readonly clock: Clock;
  /** Sends a hint to the holder of a source. Returns `false` if there is no unit to address. Throws `DatabaseError`. */
  readonly send: (source: string, hint: Hint) => Promise<boolean>;
  /** Called with the number of paths sent; a hint for everything counts as 1. */
  readonly sent: (count: number) => void;
}

/**
 * Collects what this host wrote to sources of other holders, and sends it as hints: soon, batched and limited in
 * number.
 */
export class HintSender {
  readonly #input: HintSenderInput;
  readonly #bell = new Bell();
  /** Pending hints by source: each path once, or everything. */
  #collected = new Map<string, Map<string, PathLook> | 'everything'>();

  constructor(input: HintSenderInput) {
    this.#input = input;
  }

  /** Adds a hint for a source. */
  note(source: string, hint: Hint): void {
    if (hint.kind === 'everything') this.#collected.set(source, 'everything');
    else for (const one of hint.paths) this.#add(source, one);
    this.#bell.ring();
  }

  /** Sends until the signal aborts. Hints that the database does not take are dropped: polling finds the changes. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#input;
    while (!stop.aborted) {
      await this.#bell.wait(clock, Infinity, stop);
      const collected = this.#collected;
      this.#collected = new Map();
      for (const [source, paths] of collected) await this.#send(source, hintOf(paths));
      await clock.sleep(SPACING_MS, stop);
    }
  }

  #add(source: string, { path, look }: HintedPath): void {
    const known = this.#collected.get(source) ?? new Map<string, PathLook>();
    if (known === 'everything') return;
    known.set(path, look);
    this.#collected.set(source, known.size > MOST_NAMED ? 'everything' : known);
  }

  async #send(source: string, hint: Hint): Promise<void> {
    try {
      if (await this.#input.send(source, hint)) this.#input.sent(countOf(hint));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
  }
}

/** Returns the number of paths; 1 for everything. */
function countOf(hint: Hint): number {
  return hint.kind === 'everything' ? 1 : hint.paths.length;
}
function hintOf(paths: ReadonlyMap<string, PathLook> | 'everything'): Hint {
  if (paths === 'everything') return { kind: 'everything' };
  return { kind: 'paths', paths: [...paths].map(([path, look]) => ({ path, look })) };
}
