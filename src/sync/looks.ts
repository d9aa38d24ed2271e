import type { RelativePath } from '../domain/brands.ts';
import { Bell } from './bell.ts';
import type { Engine, Transfer } from './engine.ts';
import { isDirectory, lookAt } from './look.ts';
import { LookQueue } from './look-queue.ts';
import type { FoundSource, Source } from './source.ts';
import { together } from './together.ts';
import { Workers } from './workers.ts';

/** Single files in hand. */
const FILES_AHEAD = 64;

/** Files of whole directories in hand. */
const DIRECTORY_FILES_AHEAD = 256;

/** Looks at single paths, in the order in which they were asked for. Directories, which may hold any number of files, go their own way. */
export class Looks {
  readonly #files = new LookQueue();
  readonly #filesBell = new Bell();
  readonly #directories = new LookQueue();
  readonly #directoriesBell = new Bell();
  readonly #sourceNamed: (name: string) => FoundSource | undefined;
  readonly #tooMany: () => void;

  /**
   * @param sourceNamed - the source as it was found last.
   * @param tooMany - called when so many paths wait that none is remembered any more.
   */
  constructor(sourceNamed: (name: string) => FoundSource | undefined, tooMany: () => void) {
    this.#sourceNamed = sourceNamed;
    this.#tooMany = tooMany;
  }

  /** Paths that wait. */
  get waiting(): number {
    return this.#files.size + this.#directories.size;
  }

  /** Asks for a look. */
  want(source: string, path: string): void {
    if (this.#files.add(source, path)) this.#filesBell.ring();
    else this.#tooMany();
  }

  /** Looks until the engine stops. Throws `StateFileError`; nothing is under way any more when it ends. */
  async run(engine: Engine): Promise<void> {
    const files = new Workers(FILES_AHEAD, engine.fail);
    const directories = new Workers(DIRECTORY_FILES_AHEAD, engine.fail);
    try {
      await together(engine, [
        this.#lookAtFiles(engine, files),
        this.#lookAtDirectories(engine, directories),
      ]);
    } finally {
      await files.drain();
      await directories.drain();
    }
    await files.idle();
    await directories.idle();
  }

  #lookAtFiles(engine: Engine, workers: Workers): Promise<void> {
    return this.#take(this.#files, this.#filesBell, engine, async (source, path) => {
      if (!isDirectory(source, path)) await lookAt(source, path, engine, workers, engine.fresh);
      else if (this.#directories.add(source.config.name, path)) this.#directoriesBell.ring();
      else this.#tooMany();
    });
  }

  #lookAtDirectories(engine: Engine, workers: Workers): Promise<void> {
    const transfer: Transfer = engine.bulk;
    return this.#take(this.#directories, this.#directoriesBell, engine, (source, path) =>
      lookAt(source, path, engine, workers, transfer),
    );
  }

  async #take(
    queue: LookQueue,
    bell: Bell,
    { clock, stop }: Engine,
    look: (source: Source, path: RelativePath) => Promise<void>,
  ): Promise<void> {
    while (!stop.aborted) {
      const next = queue.take();
      if (next === null) {
        await bell.wait(clock, Infinity, stop);
        continue;
      }
      const found = this.#sourceNamed(next.source);
      if (found?.kind === 'found') await look(found.source, next.path as RelativePath);
    }
  }
}
