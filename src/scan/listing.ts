import { lstatSync, opendirSync, readdirSync, realpathSync, statSync, type Dirent } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { compareUtf8 } from '../domain/path-order.ts';
import { isWithin } from '../domain/within.ts';

/** What an entry of a directory is to a scan. */
export type ListedKind =
  | { readonly kind: 'file' }
  | { readonly kind: 'directory' }
  /** Reached by a link whose target is a file or a directory. */
  | { readonly kind: 'linked-file' }
  | { readonly kind: 'linked-directory' }
  | { readonly kind: 'skip'; readonly reason: string }
  | { readonly kind: 'problem'; readonly reason: string }
  /** A link whose target cannot be found now: a file or a whole directory may be behind it. */
  | { readonly kind: 'lost'; readonly reason: string };

/** One entry of a directory; directories' names end in `/`, so that names sort as whole paths do. */
export interface Listed {
  readonly name: string;
  readonly what: ListedKind;
}

/** How links are treated: the config's `symlinks` and the source's real root. */
export interface LinkPolicy {
  readonly symlinks: 'skip' | 'inside' | 'follow';
  readonly realRoot: string;
}

/** What an entry is, whether a listing or a look at it told. */
type EntryType = Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>;

const FILE: ListedKind = { kind: 'file' };
const DIRECTORY: ListedKind = { kind: 'directory' };
const LINKED_FILE: ListedKind = { kind: 'linked-file' };
const LINKED_DIRECTORY: ListedKind = { kind: 'linked-directory' };

/** How many names are read at a time: large enough to be cheap, small enough not to stall a million-entry directory. */
const NAMES_AT_ONCE = 1024;

/** A character from which on UTF-16 order is not UTF-8 order; U+FFFD, what undecodable bytes become, is among them. */
const NEEDS_CARE = /[\ud800-\uffff]/;

/**
 * Lists a directory in path order. Yields `null` after every block of names, for the caller to let others run, and at
 * last the entries. Throws the file system's error when the directory cannot be read.
 */
export function* listDirectory(directory: string, policy: LinkPolicy): Generator<null, Listed[]> {
  const listed: Listed[] = [];
  let exotic = false;
  const handle = opendirSync(directory, { bufferSize: NAMES_AT_ONCE });
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      exotic ||= NEEDS_CARE.test(entry.name);
      listed.push(toListed(entry, entry.name, directory, policy));
      if (listed.length % NAMES_AT_ONCE === 0) yield null;
    }
  } finally {
    handle.closeSync();
  }
  const sound = exotic ? withoutUndecodable(directory, listed, policy) : listed;
  return sound.sort(exotic ? (a, b) => compareUtf8(a.name, b.name) : byCodeUnits);
}

/** One entry of a directory, as a listing would have it; `null` when it is not there. Throws the file system's error. */
export function listEntry(directory: string, name: string, policy: LinkPolicy): Listed | null {
  try {
    return toListed(lstatSync(`${directory}/${name}`), name, directory, policy);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function byCodeUnits(a: Listed, b: Listed): number {
  return a.name < b.name ? -1 : 1;
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

function resolveLink(link: string, { symlinks, realRoot }: LinkPolicy): ListedKind {
  try {
    if (symlinks === 'inside' && !isWithin(realRoot, realpathSync.native(link))) {
      return { kind: 'skip', reason: 'symbolic link that leads out of the source' };
    }
    const target = statSync(link);
    if (target.isFile()) return LINKED_FILE;
    return target.isDirectory()
      ? LINKED_DIRECTORY
      : { kind: 'skip', reason: 'symbolic link to no regular file' };
  } catch (error) {
    return {
      kind: 'lost',
      reason: `symbolic link leads nowhere: ${(error as NodeJS.ErrnoException).code ?? ''}`,
    };
  }
}

/**
 * Replaces names that are not valid UTF-8 by problems. The usual listing turns their bytes into U+FFFD, which names
 * no file, or another one; so where that character turns up, the directory is listed once more as bytes.
 */
function withoutUndecodable(directory: string, listed: Listed[], policy: LinkPolicy): Listed[] {
  if (!listed.some(({ name }) => name.includes('\ufffd'))) return listed;
  const reason = 'the name is not valid UTF-8; rename it';
  return readdirSync(directory, { encoding: 'buffer', withFileTypes: true }).map((entry) =>
    isUtf8(entry.name)
      ? toListed(entry, entry.name.toString(), directory, policy)
      : { name: escapeBytes(entry.name), what: { kind: 'problem', reason } },
  );
}

/** The name with every byte outside printable ASCII as `\xNN`. */
function escapeBytes(name: Buffer): string {
  return [...name]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');
}
