/**
 * How a path looks to every machine that has its share mounted. What clients of one share may tell differently is left out:
 * inode and ctime, and the size of a directory.
 */
export type PathLook =
  | { readonly kind: 'absent' }
  /** A link is not followed. */
  | { readonly kind: 'file' | 'link'; readonly sizeBytes: bigint; readonly mtimeNs: bigint }
  | { readonly kind: 'directory'; readonly mtimeNs: bigint }
  /** A socket, a FIFO, a device. */
  | { readonly kind: 'other' };

/** A path, relative to its source, at which a host saw something happen on its own machine, and how it looked there afterwards. */
export interface HintedPath {
  readonly path: string;
  readonly look: PathLook;
}

/** What a host tells the one that syncs a source: where to look. Nothing of it is believed. */
export type Hint =
  | { readonly kind: 'paths'; readonly paths: readonly HintedPath[] }
  /** More happened than is worth naming, or than could be followed. */
  | { readonly kind: 'everything' };

/** Clients of SMB are told hundreds of nanoseconds, those of NFS whatever the server keeps. */
const FINEST_NS = 1000n;

/** What some file systems know of a time. */
const COARSEST_NS = 1_000_000_000n;

/** Whether a path looks as another machine saw it, as far as their mounts tell the same. */
export function isSameLook(here: PathLook, there: PathLook): boolean {
  switch (here.kind) {
    case 'absent':
    case 'other':
      return here.kind === there.kind;
    case 'file':
    case 'link':
      return (
        here.kind === there.kind &&
        here.sizeBytes === there.sizeBytes &&
        isSameMoment(here.mtimeNs, there.mtimeNs)
      );
    case 'directory':
      return here.kind === there.kind && isSameMoment(here.mtimeNs, there.mtimeNs);
  }
}

/** Whether two machines may mean the same moment: one of them may be told whole seconds only. */
function isSameMoment(one: bigint, other: bigint): boolean {
  const isCoarse = one % COARSEST_NS === 0n || other % COARSEST_NS === 0n;
  const unit = isCoarse ? COARSEST_NS : FINEST_NS;
  return one / unit === other / unit;
}

/**
 * The part of a path up to which its names can be told: Node puts U+FFFD where a name is not valid UTF-8. `null`: not even the first
 * one can.
 */
export function legiblePart(path: string): string | null {
  const illegible = path.indexOf('\ufffd');
  if (illegible === -1) return path;
  const slash = path.lastIndexOf('/', illegible);
  return slash === -1 ? null : path.slice(0, slash);
}
