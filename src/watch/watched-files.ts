import type { Clock } from '../domain/clock.ts';
import { lookAtFile, type FileLook } from './file-contents.ts';
import { PathWatch } from './path-watch.ts';

/** What watching single files needs from outside. */
export interface WatchedFilesOptions {
  readonly clock: Clock;
  /** So long all files have to be unchanged before a change is told of. */
  readonly settleMs: number;
  /** How often the files are compared with what they were, for changes that no event told of. */
  readonly compareMs: number;
  /** What was accepted of files sooner, as the `content` of `lookAtFile`. */
  readonly accepted?: ReadonlyMap<string, string>;
  /** These files hold something else than was accepted, and have stood still. What they hold counts as accepted. */
  readonly changed: (files: readonly string[]) => Promise<void>;
  /** The files cannot be watched: changes are found by comparison only. Told once until the next `start`. */
  readonly limited: (reason: string) => void;
}

/** Files that are watched one by one, and what is known of them. Everything about contents is compared as hashes. */
export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  /** What each file held when it was accepted. */
  #accepted: Map<string, string>;
  /** Ends the watching; `null` while there is none. */
  #stop: AbortController | null = null;
  #ended: Promise<void> = Promise.resolve();
  /** Ends the present sleep. */
  #wake = new AbortController();
  #isHinted = false;

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
    this.#accepted = new Map(options.accepted);
  }

  /** Takes what the files hold now for known: to be called before somebody reads them. */
  async accept(): Promise<void> {
    await this.#acceptAll([...this.#accepted.keys()]);
  }

  /** Follows these files (absolute paths) and no others. What new ones hold now counts as known. */
  async follow(files: readonly string[]): Promise<void> {
    const known = this.#accepted;
    this.#accepted = new Map(files.map((file) => [file, known.get(file) ?? '']));
    await this.#acceptAll(files.filter((file) => !known.has(file)));
    this.#hint();
  }

  /** Tells of changes from now on, also of those since the files were accepted. Nothing happens when it does already. */
  start(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#ended = this.#ended.then(() => this.#run(stop.signal));
  }

  /** Ends it; `start` begins again. Must not be waited for within `changed`. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    this.#wake.abort();
    await this.#ended;
  }

  async #acceptAll(files: readonly string[]): Promise<void> {
    for (const [file, { content }] of await lookAt(files))
      if (this.#accepted.has(file)) this.#accepted.set(file, content);
  }

  #hint(): void {
    this.#isHinted = true;
    this.#wake.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let isLimitTold = false;
    const watch = new PathWatch({
      hint: () => {
        this.#hint();
      },
      limited: (reason) => {
        if (!isLimitTold && !signal.aborted) this.#options.limited(reason);
        isLimitTold = true;
      },
    });
    try {
      while (!signal.aborted) {
        this.#isHinted = false;
        this.#wake = new AbortController();
        await watch.place([...this.#accepted.keys()]);
        await this.#compare(signal);
        await this.#untilHint();
      }
    } finally {
      watch.close();
    }
  }

  async #untilHint(): Promise<void> {
    const { clock, compareMs } = this.#options;
    if (!this.#isHinted) await clock.sleep(compareMs, this.#wake.signal);
  }

  /** Waits until the files stand still, if they are not what was accepted, and tells of those that are not then. */
  async #compare(signal: AbortSignal): Promise<void> {
    const { clock, settleMs, changed } = this.#options;
    let before = await lookAt([...this.#accepted.keys()]);
    while (this.#changedIn(before).length > 0) {
      await clock.sleep(settleMs, signal);
      if (signal.aborted) return;
      const now = await lookAt([...this.#accepted.keys()]);
      const isStill = [...now].every(([file, { facts }]) => before.get(file)?.facts === facts);
      before = now;
      if (!isStill) continue;
      const files = this.#changedIn(now);
      for (const file of files) this.#accepted.set(file, now.get(file)?.content ?? '');
      if (files.length > 0) await changed(files);
      return;
    }
  }

  #changedIn(looks: ReadonlyMap<string, FileLook>): string[] {
    return [...looks].flatMap(([file, { content }]) => {
      const accepted = this.#accepted.get(file);
      return accepted === undefined || accepted === content ? [] : [file];
    });
  }
}

async function lookAt(files: readonly string[]): Promise<Map<string, FileLook>> {
  return new Map(await Promise.all(files.map(async (file) => [file, await lookAtFile(file)] as const)));
}
