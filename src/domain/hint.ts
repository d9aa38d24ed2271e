/**
 * The attributes of a path that all machines with the same share mounted agree on. Inode, ctime and the size of a directory
 * differ between clients.
 */
export type PathLook =
  | { readonly kind: 'absent' }
  /** Links are not followed. */
  | { readonly kind: 'file' | 'link'; readonly sizeBytes: bigint; readonly mtimeNs: bigint }
  | { readonly kind: 'directory'; readonly mtimeNs: bigint }
  /** A socket, a FIFO, a device. */
  | { readonly kind: 'other' };

/** A path, relative to its source, where a host noticed an event of its own machine, and its attributes afterwards. */
export interface HintedPath {
  readonly path: string;
  readonly look: PathLook;
}

/** Paths that a host suggests to the host that syncs the source for a rescan; not trusted beyond that. */
export type Hint =
  | { readonly kind: 'paths'; readonly paths: readonly HintedPath[] }
  /** There were too many events to name, or the host lost track of them. */
  | { readonly kind: 'everything' };

/** SMB clients get multiples of 100 ns, NFS clients the server's resolution. */
const FINEST_NS = 1000n;

/** The resolution of times on some file systems. */
const COARSEST_NS = 1_000_000_000n;

/** Returns whether a path looks the same to this and another machine, as far as their mounts can agree. */
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

/** Returns whether two times may be the same moment: one machine may get whole seconds only. */
function isSameMoment(one: bigint, other: bigint): boolean {
  const isCoarse = one % COARSEST_NS === 0n || other % COARSEST_NS === 0n;
  const unit = isCoarse ? COARSEST_NS : FINEST_NS;
  return one / unit === other / unit;
}

/**
 * Returns the leading part of a path whose names are valid UTF-8: Node replaces invalid bytes by U+FFFD. `null`: not even the
 * first name is.
 */
export function legiblePart(path: string): string | null {
  const illegible = path.indexOf('\ufffd');
  if (illegible === -1) return path;
  const slash = path.lastIndexOf('/', illegible);
  return slash === -1 ? null : path.slice(0, slash);
}
