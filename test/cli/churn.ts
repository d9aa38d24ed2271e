import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { listDirectories } from '../list-directories.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';

/** Numbers that follow from a seed alone. */
export interface Dice {
  /** A whole number from 0 up to, not including, `below`. */
  readonly roll: (below: number) => number;
}

/** Dice whose throws can be repeated: print the seed. */
export function createDice(seed: number): Dice {
  // mulberry32
  let state = seed >>> 0;
  return {
    roll: (below) => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
    },
  };
}

/** Changes a tree at random, as people and programs do. */
export class Churn {
  /** Where links were, as keys: files that they hid are kept on the platform, also when the link is gone. */
  readonly links = new Set<string>();
  readonly #root: string;
  readonly #dice: Dice;
  #count = 0;

  constructor(root: string, dice: Dice) {
    this.#root = root;
    this.#dice = dice;
  }

  /** Does one operation; some find nothing to be done on. */
  step(): void {
    this.#count += 1;
    const operations = [
      () => {
        this.#create();
      },
      () => {
        this.#create();
      },
      () => {
        this.#edit();
      },
      () => {
        this.#edit();
      },
      () => {
        this.#sameSizeEdit();
      },
      () => {
        this.#append();
      },
      () => {
        this.#truncate();
      },
      () => {
        this.#renameFile();
      },
      () => {
        this.#renameDirectory();
      },
      () => {
        this.#delete();
      },
      () => {
        this.#deleteDirectory();
      },
      () => {
        this.#makeDirectories();
      },
      () => {
        this.#link();
      },
      () => {
        this.#saveAtomically();
      },
    ];
    operations[this.#dice.roll(operations.length)]?.();
  }

  #text(): string {
    return `content ${this.#count} ${'x'.repeat(this.#dice.roll(2000))}`;
  }

  #newPath(): string {
    const names = ['a', 'b', 'c', 'd e', 'é', 'f.md', 'g.txt'];
    const depth = 1 + this.#dice.roll(4);
    return Array.from({ length: depth }, () => names[this.#dice.roll(names.length)]).join('/');
  }

  #anyFile(): string | null {
    const files = listFiles(this.#root);
    return files.length === 0 ? null : join(this.#root, files[this.#dice.roll(files.length)] as string);
  }

  #anyDirectory(): string | null {
    const directories = listDirectories(this.#root);
    return directories.length === 0 ? null : (directories[this.#dice.roll(directories.length)] as string);
  }

  /** What stands in the way is no failure of the churn. */
  #tolerant(action: () => void): void {
    try {
      action();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
    }
  }

  #create(): void {
    const path = join(this.#root, this.#newPath());
    this.#tolerant(() => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, this.#text(), { flag: 'wx' });
    });
  }

  #edit(): void {
    const file = this.#anyFile();
    if (file !== null) writeFileSync(file, this.#text());
  }

  #sameSizeEdit(): void {
    const file = this.#anyFile();
    if (file === null) return;
    const { atime, mtime, size } = statSync(file);
    writeFileSync(file, String(this.#count).padEnd(size, 'y').slice(0, size));
    utimesSync(file, atime, mtime);
  }

  #append(): void {
    const file = this.#anyFile();
    if (file !== null) appendFileSync(file, `more ${this.#count}`);
  }

  #truncate(): void {
    const file = this.#anyFile();
    if (file !== null) truncateSync(file, this.#dice.roll(statSync(file).size + 1));
  }

  #renameFile(): void {
    const file = this.#anyFile();
    const to = join(this.#root, this.#newPath());
    if (file === null) return;
    this.#tolerant(() => {
      mkdirSync(dirname(to), { recursive: true });
      renameSync(file, to);
    });
  }

  #renameDirectory(): void {
    const directory = this.#anyDirectory();
    const to = join(this.#root, `moved-${this.#dice.roll(5)}`);
    if (directory !== null)
      this.#tolerant(() => {
        renameSync(directory, to);
        for (const entry of readdirSync(to, { recursive: true, withFileTypes: true }))
          if (entry.isSymbolicLink()) this.#noteLink(join(entry.parentPath, entry.name));
      });
  }

  /** The way to it may lead over other links. */
  #noteLink(path: string): void {
    const real = join(realpathSync(dirname(path)), basename(path));
    this.links.add(relative(realpathSync(this.#root), real).normalize('NFC'));
  }

  #delete(): void {
    const file = this.#anyFile();
    if (file !== null) rmSync(file);
  }

  #deleteDirectory(): void {
    // Seldom: otherwise little is ever left.
    const directory = this.#dice.roll(6) === 0 ? this.#anyDirectory() : null;
    if (directory !== null) rmSync(directory, { recursive: true });
  }

  #makeDirectories(): void {
    const base = join(this.#root, `burst-${this.#dice.roll(4)}`);
    this.#tolerant(() => {
      for (let i = 0; i < 8; i++) {
        mkdirSync(join(base, `d${i}`, 'e'), { recursive: true });
        if (i % 2 === 0) writeFileSync(join(base, `d${i}`, 'e', 'f'), this.#text());
      }
    });
  }

  #link(): void {
    const path = join(this.#root, this.#newPath());
    this.#tolerant(() => {
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(this.#dice.roll(2) === 0 ? '.' : 'nowhere', path);
      this.#noteLink(path);
    });
  }

  #saveAtomically(): void {
    const file = this.#anyFile();
    if (file === null) return;
    writeFileSync(`${file}.tmp`, this.#text());
    renameSync(`${file}.tmp`, file);
  }
}

/** The regular files of a tree that botsync would sync, relative to it. */
function listFiles(root: string): string[] {
  const files: string[] = [];
  const visit = (prefix: string): void => {
    for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && !entry.name.endsWith('.tmp')) files.push(path);
    }
  };
  visit('');
  return files.sort();
}

/** How a mirror differs from its tree; empty when it is exact. What was put away counts as gone. `links`: see `Churn`. */
export function differences(
  root: string,
  emulator: Emulator,
  { links, botId = 'bot-1' }: { readonly links: ReadonlySet<string>; readonly botId?: string },
): string[] {
  const found: string[] = [];
  const local = new Set(listFiles(root));
  for (const path of local) {
    const remote = emulator.readContent(botId, path.normalize('NFC'));
    if (remote === null) found.push(`missing: ${path}`);
    else if (!remote.equals(readFileSync(join(root, path)))) found.push(`other content: ${path}`);
  }
  const keys = new Set([...local].map((path) => path.normalize('NFC')));
  for (const file of emulator.listFiles(botId)) {
    const isPutAway = file.size === 0 && file.expiresAt !== undefined;
    const wasHidden = file.key
      .split('/')
      .some((_, last, names) => links.has(names.slice(0, last + 1).join('/')));
    if (!keys.has(file.key) && !isPutAway && !wasHidden) found.push(`left over: ${file.key}`);
  }
  return found;
}
