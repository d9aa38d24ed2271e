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
import { type RelativePath, isWithin } from '../domain/key.ts';
import type { FactsReader, FileFacts } from '../domain/fingerprint.ts';
import type { PathFault } from '../domain/obstacle.ts';

export interface SourceRoot {
  /** Absolute path of the source's directory. */
  readonly root: string;
  /** The same path without links. */
  readonly realRoot: string;
  readonly symlinks: 'skip' | 'inside' | 'follow';
  readonly factsOf: FactsReader;
}

export type OpenedSource =
  | { readonly kind: 'open'; readonly file: SourceFile }
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unreadable'; readonly reason: PathFault };

const read = promisify(readCallback);

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * An open file of a source. What is checked, read and sent is this one file, even if its path leads to another file in
 * the meantime.
 */
export class SourceFile {
  readonly fd: number;
  /** The facts for the fingerprint, from when the file was opened. */
  readonly facts: FileFacts;
  /** The whole `stat` from then. All fields are reliable as long as the file is open. */
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

  /** Size when the file was opened. */
  get sizeBytes(): number {
    return Number(this.facts.size);
  }

  /** Returns whether the file is unchanged since it was opened; `false` if it was closed. */
  isUnchanged(): boolean {
    if (this.#isClosed) return false;
    const { size, mtimeNs, ctimeNs, ino } = fstatSync(this.fd, { bigint: true });
    const before = this.#opened;
    return (
      size === before.size && mtimeNs === before.mtimeNs && ctimeNs === before.ctimeNs && ino === before.ino
    );
  }

  /** Returns whether the path still leads to this file: another file may have replaced it. */
  isInPlace(): boolean {
    const there = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return there !== undefined && there.ino === this.#opened.ino && there.dev === this.#opened.dev;
  }

  /**
   * Reads into a buffer from a position, up to the end of the file, without blocking; returns the filled part. Only one
   * read at a time. Rejects once the file is closed: an aborted transfer may still ask for more.
   */
  async read(at: number, into: Buffer): Promise<Buffer> {
    if (this.#isClosed) throw new Error('the file is closed');
    const reading = read(this.fd, into, 0, into.length, at);
    this.#reading = reading;
    const { bytesRead } = await reading;
    return bytesRead === into.length ? into : into.subarray(0, bytesRead);
  }

  /** Closes the file after a read in progress: its descriptor number will soon belong to another file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reading?.catch(() => undefined);
    closeSync(this.fd);
  }
}

/**
 * Opens a file of a source safely: not through a link that replaced it, not outside the source (except with `follow`),
 * and without blocking on a FIFO.
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
    const reason: PathFault | null = facts.isFile()
      ? symlinks === 'follow' || isWithin(realRoot, realPathOf(fd, full))
        ? null
        : { kind: 'link-leads-out' }
      : { kind: 'not-regular' };
    if (reason === null) return { kind: 'open', file: new SourceFile(fd, facts, full, factsOf(facts, full)) };
    closeSync(fd);
    return { kind: 'unreadable', reason };
  } catch (error) {
    if (fd !== null) closeSync(fd);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'vanished' };
    if (code === 'ELOOP') return { kind: 'unreadable', reason: { kind: 'became-link' } };
    return { kind: 'unreadable', reason: { kind: 'unreadable', code: code ?? String(error) } };
  }
}

/** Returns the real path of an open file: on Linux from its descriptor, elsewhere by resolving the path again. */
function realPathOf(fd: number, path: string): string {
  return process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync.native(path);
}
