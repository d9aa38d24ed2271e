import type { Emit, Trigger } from '../events.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Disk } from '../../files/disk.ts';
import { findSource, IGNORE_FILE, type FoundSource } from '../sources/source.ts';
import { SourceWatch, type SourceListener } from './source-watch.ts';

export interface WatchesPorts {
  readonly rescan: (source: string, path: string) => void;
  readonly pass: (trigger: Trigger) => void;
  /** Called when the patterns in a source's directory may have changed, so that `check` has work. */
  readonly patternsChanged: (source: string) => void;
}

/** The part of a context that determines which directories are watched. */
interface Setting {
  readonly config: Config;
  readonly platformName: string;
  readonly disk?: Disk;
}

/** The watches of all sources, kept across configurations. */
export class Watches {
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #ports: WatchesPorts;
  readonly #watches = new Map<string, SourceWatch>();
  /** Sources whose ignore file changed. */
  readonly #otherPatterns = new Set<string>();
  /** Sources to check as a whole at the next `check`. */
  readonly #unseen = new Set<string>();
  /** Since when events of each source may have been lost, until a pass begins; epoch milliseconds. */
  readonly #lostFromMs = new Map<string, number>();

  constructor(clock: Clock, emit: Emit, ports: WatchesPorts) {
    this.#clock = clock;
    this.#emit = emit;
    this.#ports = ports;
  }

  /** Receives the events of these watches, and of any others. */
  readonly listener: SourceListener = {
    settled: (name, paths) => {
      for (const path of paths) {
        if (path !== IGNORE_FILE) this.#ports.rescan(name, path);
        else {
          this.#otherPatterns.add(name);
          this.#ports.patternsChanged(name);
        }
      }
    },
    lost: (name, reason, fromMs) => {
      this.#lostFromMs.set(name, Math.min(fromMs, this.#lostFromMs.get(name) ?? Infinity));
      this.#emit({ kind: 'events-lost', source: name, reason });
      this.#ports.pass('lost');
    },
    limited: (name, message) => {
      this.#emit({ kind: 'watch-limited', source: name, message });
    },
  };

  get directories(): ReadonlyMap<string, number> {
    return new Map([...this.#watches].map(([name, one]) => [name, one.watchedDirectories]));
  }

  /** Returns a source as its watch last found it. */
  readonly found = (name: string): FoundSource | undefined => this.#watches.get(name)?.found;

  /** Returns whether the current patterns ignore a file. */
  ignores(name: string, path: string): boolean {
    const found = this.found(name);
    return found?.kind === 'found' && found.source.filter.ignoresFile(path);
  }

  /** Returns the time up to which all changes in a source have been queued for a rescan, epoch milliseconds. */
  reportedUntilMs(name: string): number {
    const toldUntilMs = this.#watches.get(name)?.reportedUntilMs ?? this.#clock.now();
    return Math.min(toldUntilMs, this.#lostFromMs.get(name) ?? Infinity);
  }

  /** Watches new sources and ends the watches of removed ones. Resolves when all are watched, or at a stop. */
  async adjust({ config, platformName, disk }: Setting, stop: AbortSignal): Promise<void> {
    const before = new Map(this.#watches);
    this.#watches.clear();
    for (const [position, source] of config.sources.entries()) {
      const known = before.get(source.name);
      const found = findSource(config, source, position, platformName, disk);
      if (known?.watchesFor(config, source) === true) {
        before.delete(source.name);
        this.#watches.set(source.name, known);
        await known.meet(found);
      } else this.#watches.set(source.name, this.#watch(found, config));
    }
    for (const gone of before.values()) await gone.close();
    const ready = Promise.all([...this.#watches.values()].map((one) => one.ready()));
    await Promise.race([ready, aborted(stop)]);
  }

  /** Takes the sources as found by a pass that begins. Each promise resolves to whether the watch was replaced. */
  meet(found: readonly FoundSource[]): Promise<boolean>[] {
    this.#lostFromMs.clear();
    return found.flatMap((one) => this.#watches.get(one.config.name)?.meet(one) ?? []);
  }

  /**
   * Finds changes that have no event: directories and mounts that appeared, disappeared or were replaced, and changed
   * patterns. Requests a pass.
   *
   * @param replaced - called with a source whose directory was replaced: nothing of it is rescanned before a pass
   * checked it.
   */
  async check({ config, platformName, disk }: Setting, replaced: (name: string) => void): Promise<void> {
    for (const [position, source] of config.sources.entries()) {
      const watch = this.#watches.get(source.name);
      const hasOtherPatterns = this.#otherPatterns.delete(source.name);
      if (watch === undefined) continue;
      const { isReplaced } = watch;
      const isOther = this.#unseen.delete(source.name) || isReplaced || watch.isMountedOtherwise;
      if (!isOther && !hasOtherPatterns) continue;
      const found = findSource(config, source, position, platformName, disk);
      // An existing directory can be missing too: it still cannot be watched.
      if (found.kind === 'missing' && watch.found.kind === 'missing') continue;
      if (isReplaced) replaced(source.name);
      await watch.meet(found);
      this.#ports.pass(isOther ? 'root' : 'ignore-file');
    }
  }

  /** Makes the next check request a pass, even if the source looks the same by then. */
  lookAgain(source: string): void {
    this.#unseen.add(source);
  }

  async close(): Promise<void> {
    for (const watch of this.#watches.values()) await watch.close();
    this.#watches.clear();
  }

  #watch(found: FoundSource, config: Config): SourceWatch {
    return new SourceWatch(found, config, this.#clock, this.listener);
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
