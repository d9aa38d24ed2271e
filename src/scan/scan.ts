import type { BigIntStats } from 'node:fs';
import type { RelativePath } from '../domain/brands.ts';
import type { FactsReader, FileFacts } from '../domain/fingerprint.ts';
import type { PathFilter } from './filter.ts';
import { listDirectory, listEntry, type LinkPolicy, type Listed } from './listing.ts';

/** What a scan says of a source, in the order of whole paths (`compareUtf8`). */
export type ScanEntry =
  | { readonly kind: 'file'; readonly path: RelativePath; readonly facts: FileFacts }
  /** Not a regular file: passed over. `path` ends in `/` for a link that leads back to a parent. */
  | { readonly kind: 'skip'; readonly path: RelativePath; readonly reason: string }
  /** A file that can never be synced as it is: its name is not valid, its link leads nowhere. */
  | { readonly kind: 'problem'; readonly path: RelativePath; readonly reason: string }
  /** A file that is there but could not be checked. */
  | { readonly kind: 'unseen'; readonly path: RelativePath; readonly reason: string }
  /** A directory that cannot be listed, or a link that leads nowhere; `path` ends in `/`, and nothing is known of what lies below it. */
  | { readonly kind: 'unlisted'; readonly path: RelativePath; readonly reason: string }
  /** Nothing new; a chance for the caller to let other work run. */
  | { readonly kind: 'tick' };

/** What a scan walks. */
export interface ScanTarget extends LinkPolicy {
  /** The source's directory, absolute. */
  readonly root: string;
  readonly filter: PathFilter;
  readonly factsOf: FactsReader;
  /** Files that are left out under whatever name they are met: `device:inode`. */
  readonly protectedFiles: ReadonlySet<string>;
}

interface Frame {
  /** Relative, empty for the root, else ending in `/`. */
  readonly prefix: string;
  readonly entries: readonly Listed[];
  next: number;
  /** Device and inode, known only where links are followed: how a loop is noticed. */
  readonly identity: string | null;
}

const TICK: ScanEntry = { kind: 'tick' };

/**
 * Walks a source in path order. What it holds is the names of the directories on the way down, never the tree.
 *
 * Synchronous on purpose: that is several times faster than asking the thread pool for every file, and the caller
 * decides how long a stretch may last. Throws only when the root itself cannot be listed.
 *
 * @param only - walk only this path and what lies below it, as a walk over everything would come upon it.
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
        if (!filter.ignores(path, false)) yield { kind: entry.what.kind, path, reason: entry.what.reason };
        break;
    }
  }

  /** The frames above a path as if they had been walked, the last with nothing but that path; none when it is not part of the source. */
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
        if (!hasVanished(error)) yield { kind: 'unseen', path, reason: `cannot be read: ${codeOf(error)}` };
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
      // A consumer of the generator that stops early leaves a listing half done.
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
      if (!hasVanished(error)) yield { kind: 'unlisted', path, reason: `cannot be listed: ${codeOf(error)}` };
    }
  }

  function* lookAt(path: RelativePath, isLink: boolean): Generator<ScanEntry, void> {
    try {
      const facts = isLink ? disk.stat(`${root}/${path}`) : disk.lstat(`${root}/${path}`);
      // Another name can only come from a link, of either kind.
      if ((followsLinks || facts.nlink > 1n) && target.protectedFiles.has(identityOf(facts))) return;
      if (facts.isFile()) yield { kind: 'file', path, facts: target.factsOf(facts, `${root}/${path}`) };
      else yield { kind: 'skip', path, reason: 'no longer a regular file' };
    } catch (error) {
      if (!hasVanished(error)) yield { kind: 'unseen', path, reason: `cannot be read: ${codeOf(error)}` };
    }
  }
}

function identityOf(facts: BigIntStats): string {
  return `${facts.dev}:${facts.ino}`;
}

/** Removed between being listed and being looked at, which is nobody's fault. */
function hasVanished(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
