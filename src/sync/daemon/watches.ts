import type { Emit, Trigger } from '../events.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Disk } from '../../files/disk.ts';
import { findSource, IGNORE_FILE, type FoundSource } from '../sources/source.ts';
import { SourceWatch, type SourceListener } from './source-watch.ts';

/** What is done about what watches see. */
export interface WatchesPorts {
  /** A path stands still, and is to be rescanned. */
  readonly rescan: (source: string, path: string) => void;
  /** Everything is to be rescanned. */
  readonly pass: (trigger: Trigger) => void;
  /** The patterns in a source's directory may be others: there is something for `check`. */
  readonly patternsChanged: (source: string) => void;
}

/** What of a context says which directories are watched. */
interface Setting {
  readonly config: Config;
  readonly platformName: string;
  readonly disk?: Disk;
}

/** The watches over all sources, from one configuration to the next. */
export class Watches {
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #ports: WatchesPorts;
  readonly #watches = new Map<string, SourceWatch>();
  /** Sources whose ignore file changed. */
  readonly #otherPatterns = new Set<string>();
  /** Sources that are to be looked at as a whole at the next check. */
  readonly #unseen = new Set<string>();
  /** Of each source whose events may have been lost: from when on, until a pass begins. Epoch milliseconds. */
  readonly #lostFromMs = new Map<string, number>();

  constructor(clock: Clock, emit: Emit, ports: WatchesPorts) {
    this.#clock = clock;
    this.#emit = emit;
    this.#ports = ports;
  }

  /** Is told what watches see: those of here, and any others. */
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

  /** Directories under watch, by source. */
  get directories(): ReadonlyMap<string, number> {
    return new Map([...this.#watches].map(([name, one]) => [name, one.watchedDirectories]));
  }

  /** A source as its watch last met it. */
  readonly found = (name: string): FoundSource | undefined => this.#watches.get(name)?.found;

  /** Whether by the patterns of now a file is left out. */
  ignores(name: string, path: string): boolean {
    const found = this.found(name);
    return found?.kind === 'found' && found.source.filter.ignoresFile(path);
  }

  /** A rescan of everything that happened in a source until then has been asked for, epoch milliseconds. */
  toldUntilMs(name: string): number {
    const toldUntilMs = this.#watches.get(name)?.toldUntilMs ?? this.#clock.now();
    return Math.min(toldUntilMs, this.#lostFromMs.get(name) ?? Infinity);
  }

  /** Watches what is not watched yet, and no longer what left the configuration. Resolves when all is watched, or at a stop. */
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

  /** Takes note of how a pass that begins found sources. Each promise says whether its watch had to be made again. */
  meet(found: readonly FoundSource[]): Promise<boolean>[] {
    this.#lostFromMs.clear();
    return found.flatMap((one) => this.#watches.get(one.config.name)?.meet(one) ?? []);
  }

  /**
   * Looks for what no event tells of: directories and mounts that came, went or were replaced, and other patterns. Asks for a pass.
   *
   * @param replaced - told a source whose directory is another one: nothing of it is rescanned before a pass checked it.
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
      // A directory that is there may be missing all the same: what keeps it from being watched is not over.
      if (found.kind === 'missing' && watch.found.kind === 'missing') continue;
      if (isReplaced) replaced(source.name);
      await watch.meet(found);
      this.#ports.pass(isOther ? 'root' : 'ignore-file');
    }
  }

  /** Has the next check ask for a pass, though all may be there again by then. */
  lookAgain(source: string): void {
    this.#unseen.add(source);
  }

  /** Ends all watching. */
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
