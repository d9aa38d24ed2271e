import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  read as readCallback,
  type BigIntStats,
} from 'node:fs';
import { promisify } from 'node:util';
import type { RelativePath } from '../domain/brands.ts';
import type { FactsReader, FileFacts } from '../domain/fingerprint.ts';
import { isWithin } from '../domain/within.ts';

/** Where a source's files are read from. */
export interface SourceRoot {
  /** The source's directory, absolute. */
  readonly root: string;
  /** The same without links. */
  readonly realRoot: string;
  readonly symlinks: 'skip' | 'inside' | 'follow';
  readonly factsOf: FactsReader;
}

/** A file open for reading, or why it is not. */
export type OpenedSource =
  | { readonly kind: 'open'; readonly file: SourceFile }
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unreadable'; readonly reason: string };

const read = promisify(readCallback);

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A source's file, opened once: what is stated, read and sent is this one file, whatever happens to its path in the meantime. */
export class SourceFile {
  readonly fd: number;
  /** What it is recognised by later on, as it was when it was opened. */
  readonly facts: FileFacts;
  /** All that its `stat` said then: as long as it is open, all of that means something. */
  readonly #opened: BigIntStats;
  readonly #path: string;
  #reading: Promise<unknown> | null = null;
  #isClosed = false;

  constructor(fd: number, opened: BigIntStats, path: string, facts: FileFacts = opened) {
    this.fd = fd;
    this.facts = facts;
    this.#opened = opened;
    this.#path = path;
  }

  /** In bytes, when it was opened. */
  get sizeBytes(): number {
    return Number(this.facts.size);
  }

  /** Whether the file is still as it was when it was opened; of a closed one that cannot be known. */
  isUnchanged(): boolean {
    if (this.#isClosed) return false;
    const { size, mtimeNs, ctimeNs, ino } = fstatSync(this.fd, { bigint: true });
    const before = this.#opened;
    return (
      size === before.size && mtimeNs === before.mtimeNs && ctimeNs === before.ctimeNs && ino === before.ino
    );
  }

  /** Whether its path still leads to it: another file may have been put in its place. */
  isInPlace(): boolean {
    const there = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return there !== undefined && there.ino === this.#opened.ino && there.dev === this.#opened.dev;
  }

  /**
   * Fills a buffer from a position, as far as there is anything, without blocking; resolves to what it filled. One at a
   * time. Rejects once the file is closed: a transfer that was aborted may still ask for more.
   */
  async read(at: number, into: Buffer): Promise<Buffer> {
    if (this.#isClosed) throw new Error('the file is closed');
    const reading = read(this.fd, into, 0, into.length, at);
    this.#reading = reading;
    const { bytesRead } = await reading;
    return bytesRead === into.length ? into : into.subarray(0, bytesRead);
  }

  /** Closes the file, once nothing is being read from it any more: its descriptor will soon be another file's. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reading?.catch(() => undefined);
    closeSync(this.fd);
  }
}

/**
 * Opens a file of a source without being led astray: not through a link put in its place, not out of the source (but
 * for `follow`), and without waiting on a FIFO.
 */
export function openSourceFile(
  { root, realRoot, symlinks, factsOf }: SourceRoot,
  path: RelativePath,
): OpenedSource {
  const full = `${root}/${path}`;
  let fd: number | null = null;
  try {
    fd = openSync(symlinks === 'skip' ? full : realpathSync.native(full), FLAGS);
    const facts = fstatSync(fd, { bigint: true });
    const reason = facts.isFile()
      ? symlinks === 'follow' || isWithin(realRoot, realPathOf(fd, full))
        ? null
        : 'a link leads out of the source'
      : 'no longer a regular file';
    if (reason === null) return { kind: 'open', file: new SourceFile(fd, facts, full, factsOf(facts, full)) };
    closeSync(fd);
    return { kind: 'unreadable', reason };
  } catch (error) {
    if (fd !== null) closeSync(fd);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'vanished' };
    if (code === 'ELOOP') return { kind: 'unreadable', reason: 'it was replaced by a symbolic link' };
    return { kind: 'unreadable', reason: `cannot be read: ${code ?? String(error)}` };
  }
}

/** Where an open file really lies. Linux says it of the file itself; elsewhere the path is asked again. */
function realPathOf(fd: number, path: string): string {
  return process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync.native(path);
}
