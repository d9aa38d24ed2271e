import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Dice } from '../cli/churn.ts';

/** A large file: it is streamed, and its body arrives in parts. */
const LARGE_PATH = 'large/video.bin';

/** The least size of the large file, bytes. */
export const LARGE_BYTES = 400_000;

const DIRECTORIES = ['', 'a/', 'a/deep/', 'b/', 'é/'];

/** Never fewer: a source that is suddenly empty is halted. */
const FEWEST_FILES = 15;

/** A directory that is edited at random, and what stands in it. */
export class Tree {
  readonly #root: string;
  readonly #dice: Dice;
  readonly #files = new Map<string, Buffer>();
  /** What files held before their last edit. */
  readonly #before = new Map<string, Buffer>();
  #count = 0;

  constructor(root: string, dice: Dice) {
    this.#root = root;
    this.#dice = dice;
    for (let n = 0; n < 25; n++) this.#create();
    this.editLarge();
  }

  /** By path; the key of a file is its path. */
  get files(): ReadonlyMap<string, Buffer> {
    return this.#files;
  }

  /** Does a handful of edits. */
  edit(): void {
    const edits = [
      () => {
        this.#create();
      },
      () => {
        this.#create();
      },
      () => {
        this.#write(this.#anyPath(), this.#content());
      },
      () => {
        this.#rewriteUnnoticed(this.#anyPath());
      },
      () => {
        this.#append(this.#anyPath());
      },
      () => {
        this.#write(this.#anyPath(), Buffer.alloc(0));
      },
      () => {
        this.#rename(this.#anyPath());
      },
      () => {
        this.#remove(this.#anyPath());
      },
    ];
    for (let n = 6 + this.#dice.roll(6); n > 0; n--) edits[this.#dice.roll(edits.length)]?.();
  }

  /** Gives the large file other content, often of the same size. */
  editLarge(): void {
    const bytes = Buffer.alloc(LARGE_BYTES + this.#dice.roll(3) * 100_000, `large ${this.#count++} `);
    this.#write(LARGE_PATH, bytes);
  }

  /** Gives files back what they held before they were edited last, in place or as new files; removed ones return. */
  putBack(): void {
    for (const [path, bytes] of [...this.#before]) {
      if (this.#dice.roll(4) === 0) continue;
      if (this.#dice.roll(2) === 0) rmSync(this.#at(path), { force: true });
      this.#write(path, bytes);
    }
    this.#before.clear();
  }

  #at(path: string): string {
    return join(this.#root, path);
  }

  #anyPath(): string {
    const paths = [...this.#files.keys()].filter((path) => path !== LARGE_PATH);
    return paths[this.#dice.roll(paths.length)] as string;
  }

  #content(): Buffer {
    return Buffer.from(`content ${this.#count++} ${'x'.repeat(this.#dice.roll(2000))}`);
  }

  #newPath(): string {
    return `${DIRECTORIES[this.#dice.roll(DIRECTORIES.length)] ?? ''}file ${this.#count++}.md`;
  }

  #create(): void {
    this.#write(this.#newPath(), this.#dice.roll(6) === 0 ? Buffer.alloc(0) : this.#content());
  }

  #write(path: string, bytes: Buffer): void {
    const before = this.#files.get(path);
    if (before !== undefined) this.#before.set(path, before);
    mkdirSync(dirname(this.#at(path)), { recursive: true });
    writeFileSync(this.#at(path), bytes);
    this.#files.set(path, bytes);
  }

  /** The same size, and the mtime of before. */
  #rewriteUnnoticed(path: string): void {
    const { atime, mtime, size } = statSync(this.#at(path));
    this.#write(path, Buffer.from(String(this.#count++).padEnd(size, 'y').slice(0, size)));
    utimesSync(this.#at(path), atime, mtime);
  }

  #append(path: string): void {
    this.#write(path, Buffer.concat([this.#files.get(path) ?? Buffer.alloc(0), Buffer.from('more')]));
  }

  #rename(path: string): void {
    const to = this.#newPath();
    mkdirSync(dirname(this.#at(to)), { recursive: true });
    renameSync(this.#at(path), this.#at(to));
    this.#files.set(to, this.#files.get(path) as Buffer);
    this.#files.delete(path);
  }

  #remove(path: string): void {
    if (this.#files.size <= FEWEST_FILES) return;
    this.#before.set(path, this.#files.get(path) as Buffer);
    rmSync(this.#at(path));
    this.#files.delete(path);
  }
}
