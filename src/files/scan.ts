import type { BigIntStats } from 'node:fs';
import type { RelativePath } from '../domain/key.ts';
import type { FactsReader, FileFacts } from '../domain/fingerprint.ts';
import type { PathFault } from '../domain/obstacle.ts';
import type { PathFilter } from './filter.ts';
import { listDirectory, listEntry, type LinkPolicy, type Listed } from './listing.ts';

/** An item of a scan. Items come in the order of whole paths (`compareUtf8`). */
export type ScanEntry =
  | { readonly kind: 'file'; readonly path: RelativePath; readonly facts: FileFacts }
  /** Not a regular file, or a link that leads back to a parent; `path` ends in `/` for the latter. */
  | { readonly kind: 'skip'; readonly path: RelativePath; readonly reason: string }
  /** A file that cannot be synced as it is, because its name is not valid UTF-8. */
  | { readonly kind: 'problem'; readonly path: RelativePath; readonly reason: PathFault }
  /** A file that exists but could not be checked. */
  | { readonly kind: 'unseen'; readonly path: RelativePath; readonly reason: PathFault }
  /**
   * A directory that cannot be listed, or a link that leads nowhere. `path` ends in `/`; what is below it is unknown.
   */
  | { readonly kind: 'unlisted'; readonly path: RelativePath; readonly reason: PathFault }
  /** No item: lets the caller run other work. */
  | { readonly kind: 'tick' };

export interface ScanTarget extends LinkPolicy {
  /** The source's directory, absolute. */
  readonly root: string;
  readonly filter: PathFilter;
  readonly factsOf: FactsReader;
  /** Files (`device:inode`) that are ignored under every name. */
  readonly protectedFiles: ReadonlySet<string>;
}

interface Frame {
  /** Relative path, empty for the root, otherwise ending in `/`. */
  readonly prefix: string;
  readonly entries: readonly Listed[];
  next: number;
  /** Device and inode, to notice loops; `null` if links are not followed. */
  readonly identity: string | null;
}

const TICK: ScanEntry = { kind: 'tick' };

/**
 * Walks a source in path order. Memory is bounded by the directories on the way down, not by the tree.
 *
 * Synchronous on purpose: that is several times faster than using the thread pool for every file, and the caller
 * decides how long it runs without a pause. Throws only if the root itself cannot be listed.
 *
 * @param only - walks only this path and what is below it; the items are those of a full walk.
 */
export function* scan(target: ScanTarget, only?: RelativePath): Generator<ScanEntry, void> {
  const { root, filter, disk } = target;
  const followsLinks = target.symlinks !== 'skip';
  const stack: Frame[] = only === undefined ? [yield* open('')] : [...(yield* descend(only))];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const entry = frame.entries[frame.next++];
    if (entry === undefined) {
      stack.pop();
      continue;
    }
    const path = (frame.prefix + entry.name) as RelativePath;
    switch (entry.what.kind) {
      case 'file':
      case 'linked-file':
        if (!filter.ignores(path, false)) yield* lookAt(path, entry.what.kind === 'linked-file');
        break;
      case 'directory':
      case 'linked-directory':
        if (!filter.ignores(path.slice(0, -1), true)) yield* enter(path);
        break;
      case 'lost':
        if (!filter.ignores(path.slice(0, -1), false))
          yield { kind: 'unlisted', path, reason: entry.what.reason };
        break;
      case 'skip':
      case 'problem':
        if (!filter.ignores(path, false)) yield { ...entry.what, path };
        break;
    }
  }

  /**
   * Returns the frames above a path as if they had been walked, the last with only this path; none if the path is not
   * part of the source.
   */
  function* descend(path: RelativePath): Generator<ScanEntry, Frame[]> {
    const frames: Frame[] = [];
    let prefix = '';
    for (const name of path.split('/')) {
      const directory = directoryOf(prefix);
      try {
        const identity = followsLinks ? identityOf(disk.stat(directory)) : null;
        const isLast = prefix.length + name.length === path.length;
        const listed = listEntry(directory, name, target);
        if (listed === null) return [];
        frames.push({ prefix, entries: isLast ? [listed] : [], next: 0, identity });
        prefix += `${name}/`;
        if (!isLast && listed.what.kind === 'lost') {
          yield { kind: 'unlisted', path: prefix as RelativePath, reason: listed.what.reason };
          return [];
        }
        if (!isLast && (!listed.name.endsWith('/') || filter.ignores(prefix.slice(0, -1), true))) return [];
      } catch (error) {
        if (!hasVanished(error))
          yield { kind: 'unseen', path, reason: { kind: 'unreadable', code: codeOf(error) } };
        return [];
      }
    }
    return frames;
  }

  function directoryOf(prefix: string): string {
    return root + (prefix === '' ? '' : `/${prefix.slice(0, -1)}`);
  }

  function* open(prefix: string): Generator<ScanEntry, Frame> {
    const directory = directoryOf(prefix);
    const listing = listDirectory(directory, target);
    let step = listing.next();
    try {
      for (; step.done !== true; step = listing.next()) yield TICK;
    } finally {
      // Closes the directory if the consumer stops early.
      listing.return([]);
    }
    return {
      prefix,
      entries: step.value,
      next: 0,
      identity: followsLinks ? identityOf(disk.stat(directory)) : null,
    };
  }

  function* enter(path: RelativePath): Generator<ScanEntry, void> {
    try {
      const frame = yield* open(path);
      if (frame.identity !== null && stack.some(({ identity }) => identity === frame.identity)) {
        yield { kind: 'skip', path, reason: 'symbolic link that leads back to a parent' };
      } else {
        stack.push(frame);
      }
    } catch (error) {
      if (!hasVanished(error))
        yield { kind: 'unlisted', path, reason: { kind: 'unlistable', code: codeOf(error) } };
    }
  }

  function* lookAt(path: RelativePath, isLink: boolean): Generator<ScanEntry, void> {
    try {
      const facts = isLink ? disk.stat(`${root}/${path}`) : disk.lstat(`${root}/${path}`);
      // A protected file can have another name only through a symbolic or a hard link.
      if ((followsLinks || facts.nlink > 1n) && target.protectedFiles.has(identityOf(facts))) return;
      if (facts.isFile()) yield { kind: 'file', path, facts: target.factsOf(facts, `${root}/${path}`) };
      else yield { kind: 'skip', path, reason: 'no longer a regular file' };
    } catch (error) {
      if (!hasVanished(error))
        yield { kind: 'unseen', path, reason: { kind: 'unreadable', code: codeOf(error) } };
    }
  }
}

function identityOf(facts: BigIntStats): string {
  return `${facts.dev}:${facts.ino}`;
}

/** Returns whether an entry was deleted after it was listed, which is not an error. */
function hasVanished(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
