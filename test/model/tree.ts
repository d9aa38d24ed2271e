import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { coverWithNothing, unmount } from '../mounts.ts';

/** What a path of the world leads to. A link's target is a path of the world as well, there or not. */
export type Node =
  | { readonly kind: 'file'; readonly content: string }
  | { readonly kind: 'directory' }
  | { readonly kind: 'link'; readonly target: string };

/** Real paths are at most so many links away. */
const MOST_LINKS = 40;

/** Directories on disk and, as a plain map, what ought to be in them. Paths are relative to the world's directory. */
export class Tree {
  readonly nodes = new Map<string, Node>();
  readonly #root: string;
  #probes = 0;
  #covered: { readonly path: string; readonly hidden: readonly (readonly [string, Node])[] } | null = null;

  /** @param tops - directories that are there already. */
  constructor(root: string, tops: readonly string[]) {
    this.#root = root;
    for (const top of tops) this.nodes.set(top, { kind: 'directory' });
  }

  /** The paths of one kind of node below a directory, in no particular order. */
  list(kind: Node['kind'], below: string): string[] {
    return [...this.nodes].flatMap(([path, node]) =>
      node.kind === kind && path.startsWith(`${below}/`) ? [path] : [],
    );
  }

  /** Whether a new entry may be made at a path: it is free, and its parent is a directory. */
  isFree(path: string): boolean {
    return !this.nodes.has(path) && this.nodes.get(parentOf(path))?.kind === 'directory';
  }

  content(path: string): string {
    const node = this.nodes.get(path);
    if (node?.kind !== 'file') throw new Error(`no file: ${path}`);
    return node.content;
  }

  write(path: string, content: string): void {
    writeFileSync(this.#disk(path), content);
    this.nodes.set(path, { kind: 'file', content });
  }

  /** Replaces the content by other of the same size and sets the time of modification back. */
  rewriteUnnoticeably(path: string, content: string): void {
    const { atime, mtime } = statSync(this.#disk(path));
    this.write(path, content);
    utimesSync(this.#disk(path), atime, mtime);
  }

  touch(path: string, atSeconds: number): void {
    utimesSync(this.#disk(path), atSeconds, atSeconds);
  }

  append(path: string, more: string): void {
    appendFileSync(this.#disk(path), more);
    this.nodes.set(path, { kind: 'file', content: this.content(path) + more });
  }

  truncate(path: string, size: number): void {
    truncateSync(this.#disk(path), size);
    this.nodes.set(path, { kind: 'file', content: this.content(path).slice(0, size) });
  }

  makeDirectory(path: string): void {
    mkdirSync(this.#disk(path));
    this.nodes.set(path, { kind: 'directory' });
  }

  link(path: string, target: string): void {
    symlinkSync(this.#disk(target), this.#disk(path));
    this.nodes.set(path, { kind: 'link', target });
  }

  /** Removes a path with all below it. */
  remove(path: string): void {
    rmSync(this.#disk(path), { recursive: true });
    for (const each of [...this.nodes.keys()]) if (isAtOrBelow(path, each)) this.nodes.delete(each);
  }

  /** Moves a path with all below it; a file may take the place of another. */
  move(from: string, to: string): void {
    renameSync(this.#disk(from), this.#disk(to));
    for (const [path, node] of [...this.nodes]) {
      if (!isAtOrBelow(from, path)) continue;
      this.nodes.delete(path);
      this.nodes.set(to + path.slice(from.length), node);
    }
  }

  /** The directory that an empty file system is mounted over; `null`: none is. */
  get covered(): string | null {
    return this.#covered?.path ?? null;
  }

  /** Mounts an empty file system over a directory, which hides what is in it. `false`: that is not allowed here. */
  cover(path: string): boolean {
    if (!coverWithNothing(this.#disk(path))) return false;
    const hidden = [...this.nodes].filter(([each]) => each.startsWith(`${path}/`));
    for (const [each] of hidden) this.nodes.delete(each);
    this.#covered = { path, hidden };
    return true;
  }

  /** Unmounts it. */
  uncover(): void {
    if (this.#covered === null) return;
    const { path, hidden } = this.#covered;
    unmount(this.#disk(path));
    for (const [each, node] of hidden) this.nodes.set(each, node);
    this.#covered = null;
  }

  /** The real path that a path leads to, its parents' links followed and its own; `null` when it leads nowhere. */
  resolve(path: string, budget = MOST_LINKS): string | null {
    let real = '';
    for (const name of path.split('/')) {
      const next = real === '' ? name : `${real}/${name}`;
      const node = this.nodes.get(next);
      if (node === undefined || budget === 0) return null;
      const led = node.kind === 'link' ? this.resolve(node.target, budget - 1) : next;
      if (led === null) return null;
      real = led;
    }
    return real;
  }

  /** What lies at a path whose own link is not followed, though its parents' are. */
  look(path: string): Node | null {
    const parent = this.resolve(parentOf(path));
    return parent === null ? null : (this.nodes.get(`${parent}/${nameOf(path)}`) ?? null);
  }

  /** The names in a real directory. */
  names(directory: string): string[] {
    return [...this.nodes.keys()].flatMap((path) => (parentOf(path) === directory ? [nameOf(path)] : []));
  }

  /**
   * Resolves when whatever is written from now on gets later times than all before. The kernel's clock for them moves
   * in ticks; the clock of these tests is far ahead, so that botsync takes for at rest what was written a tick ago.
   */
  async untilStampsMove(): Promise<void> {
    const stamp = (): bigint => {
      const probe = join(this.#root, `probe-${++this.#probes}`);
      writeFileSync(probe, '');
      const { ctimeNs } = statSync(probe, { bigint: true });
      rmSync(probe);
      return ctimeNs;
    };
    const before = stamp();
    while (stamp() <= before) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Whether there is anything on disk at a path. */
  isOnDisk(path: string): boolean {
    return existsSync(this.#disk(path));
  }

  #disk(path: string): string {
    return join(this.#root, path);
  }
}

/** Whether a path is another or lies below it. */
export function isAtOrBelow(above: string, path: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}

/** The directory of a path; empty for a top. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
