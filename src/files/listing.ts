import { realpathSync, type BigIntStats, type Dirent } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import type { PathFault } from '../domain/obstacle.ts';
import { compareUtf8, isWithin } from '../domain/key.ts';
import type { Disk } from './disk.ts';
import { isListed, mayBeAnother } from './spelling.ts';

export type ListedKind =
  | { readonly kind: 'file' }
  | { readonly kind: 'directory' }
  /** A link whose target is a file or a directory. */
  | { readonly kind: 'linked-file' }
  | { readonly kind: 'linked-directory' }
  | { readonly kind: 'skip'; readonly reason: string }
  | { readonly kind: 'problem'; readonly reason: PathFault }
  /** A link whose target cannot be found now. It may lead to a file or to a whole directory. */
  | { readonly kind: 'lost'; readonly reason: PathFault };

/** An entry of a directory. The names of directories end in `/`, so that names sort as whole paths do. */
export interface Listed {
  readonly name: string;
  readonly what: ListedKind;
}

/**
 * The lookup of a source's entries: the port, how links are treated (the config's `symlinks`), and the source's
 * root without links.
 */
export interface LinkPolicy {
  readonly disk: Disk;
  readonly symlinks: 'skip' | 'inside' | 'follow';
  readonly realRoot: string;
}

/** The type of an entry, from a listing or from `lstat`. */
type EntryType = Pick<
  Dirent | BigIntStats,
  'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'
>;

const FILE: ListedKind = { kind: 'file' };
const DIRECTORY: ListedKind = { kind: 'directory' };
const LINKED_FILE: ListedKind = { kind: 'linked-file' };
const LINKED_DIRECTORY: ListedKind = { kind: 'linked-directory' };

/** How many names are sorted without a pause: some milliseconds. */
const NAMES_SORTED_AT_ONCE = 8192;

/**
 * How many names are read or merged without a pause, so that a directory of a million entries does not block the event
 * loop.
 */
const NAMES_A_TURN = 256;

/**
 * UTF-16 order and UTF-8 order differ from this character on. U+FFFD, which replaces undecodable bytes, is among them.
 */
const NEEDS_CARE = /[\ud800-\uffff]/;
const UNDECODABLE = '\ufffd';

/**
 * Lists a directory in path order. Yields `null` after every block of names, so that the caller can let other work run,
 * and returns the entries. Throws the file system's error if the directory cannot be read.
 */
export function* listDirectory(directory: string, policy: LinkPolicy): Generator<null, Listed[]> {
  const met: { isExotic: boolean; isDoubtful: boolean } = { isExotic: false, isDoubtful: false };
  let blocks = yield* readBlocks(directory, 'utf8', policy, (entry) => {
    const { name } = entry;
    met.isExotic ||= NEEDS_CARE.test(name);
    met.isDoubtful ||= met.isExotic && name.includes(UNDECODABLE);
    return toListed(entry, name, directory, policy);
  });
  if (met.isDoubtful) {
    blocks = yield* readBlocks(directory, 'buffer', policy, (entry) =>
      bytesToListed(entry, directory, policy),
    );
  }
  return yield* mergeSort(blocks, met.isExotic ? byUtf8 : byCodeUnits, NAMES_A_TURN);
}

function* readBlocks(
  directory: string,
  encoding: 'utf8' | 'buffer',
  { disk }: LinkPolicy,
  take: (entry: Dirent) => Listed,
): Generator<null, Listed[][]> {
  const blocks: Listed[][] = [];
  const handle = disk.openDirectory(directory, encoding);
  try {
    let block: Listed[] = [];
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      if (block.length === 0) blocks.push(block);
      block.push(take(entry));
      if (block.length % NAMES_A_TURN === 0) yield null;
      if (block.length === NAMES_SORTED_AT_ONCE) block = [];
    }
  } finally {
    handle.closeSync();
  }
  return blocks;
}

/**
 * Returns one entry of a directory as a listing would contain it; `null` if the directory has no entry with exactly
 * this name. Throws the file system's error.
 */
export function listEntry(directory: string, name: string, policy: LinkPolicy): Listed | null {
  try {
    const facts = policy.disk.lstat(`${directory}/${name}`);
    if (mayBeAnother(policy.disk, directory, name) && !isListed(policy.disk, directory, name)) return null;
    return toListed(facts, name, directory, policy);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function byCodeUnits(a: Listed, b: Listed): number {
  return a.name < b.name ? -1 : 1;
}

function byUtf8(a: Listed, b: Listed): number {
  return compareUtf8(a.name, b.name);
}

function toListed(entry: EntryType, name: string, directory: string, policy: LinkPolicy): Listed {
  const what = kindOf(entry, name, directory, policy);
  const isDirectory = what.kind === 'directory' || what.kind === 'linked-directory';
  return { name: isDirectory || what.kind === 'lost' ? `${name}/` : name, what };
}

function kindOf(entry: EntryType, name: string, directory: string, policy: LinkPolicy): ListedKind {
  if (entry.isFile()) return FILE;
  if (entry.isDirectory()) return DIRECTORY;
  if (entry.isSymbolicLink()) {
    if (policy.symlinks === 'skip') return { kind: 'skip', reason: 'symbolic link' };
    return resolveLink(`${directory}/${name}`, policy);
  }
  return { kind: 'skip', reason: entry.isFIFO() ? 'FIFO' : entry.isSocket() ? 'socket' : 'device' };
}

function resolveLink(link: string, { disk, symlinks, realRoot }: LinkPolicy): ListedKind {
  try {
    if (symlinks === 'inside' && !isWithin(realRoot, realpathSync.native(link))) {
      return { kind: 'skip', reason: 'symbolic link that leads out of the source' };
    }
    const target = disk.stat(link);
    if (target.isFile()) return LINKED_FILE;
    return target.isDirectory()
      ? LINKED_DIRECTORY
      : { kind: 'skip', reason: 'symbolic link to something that is not a regular file' };
  } catch (error) {
    return {
      kind: 'lost',
      reason: { kind: 'dangling-link', code: (error as NodeJS.ErrnoException).code ?? '' },
    };
  }
}

/**
 * Reports names that are not valid UTF-8 as problems. The usual listing replaces their undecodable bytes with U+FFFD,
 * and the result names no file or another one; so a directory with that character is listed again as bytes.
 */
function bytesToListed(entry: Dirent, directory: string, policy: LinkPolicy): Listed {
  const name = entry.name as string | Buffer;
  if (typeof name === 'string' || isUtf8(name)) return toListed(entry, name.toString(), directory, policy);
  return {
    name: escapeBytes(name),
    what: { kind: 'problem', reason: { kind: 'name-not-utf8' } },
  };
}

/** Returns the name with every byte outside printable ASCII as `\xNN`. */
function escapeBytes(name: Buffer): string {
  return [...name]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');
}

/**
 * Sorts blocks of entries into one list. Yields `null` after every `stepEntries` moved entries, so that the caller can
 * let other work run: sorting a million entries at once would block for a second.
 */
export function* mergeSort<T>(
  blocks: readonly T[][],
  compare: (a: T, b: T) => number,
  stepEntries: number,
): Generator<null, T[]> {
  let runs = blocks;
  for (const run of runs) {
    run.sort(compare);
    if (runs.length > 1) yield null;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [first = [], second = []] = runs.slice(at, at + 2);
      longer.push(second.length === 0 ? first : yield* merge(first, second, compare, stepEntries));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merge<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
  stepEntries: number,
): Generator<null, T[]> {
  const merged: T[] = [];
  let i = 0;
  for (const entry of second) {
    for (let a = first[i]; a !== undefined && compare(a, entry) <= 0; a = first[++i]) {
      merged.push(a);
      if (merged.length % stepEntries === 0) yield null;
    }
    merged.push(entry);
    if (merged.length % stepEntries === 0) yield null;
  }
  for (let a = first[i]; a !== undefined; a = first[++i]) {
    merged.push(a);
    if (merged.length % stepEntries === 0) yield null;
  }
  return merged;
}
