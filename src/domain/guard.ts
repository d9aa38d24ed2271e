import { createHash } from 'node:crypto';
import * as z from 'zod';

/** The config's `removals`, as far as the guard needs it. */
export interface RemovalLimits {
  readonly maxCount: number;
  /** Of the source's recorded files, above 0 up to 1. */
  readonly maxFraction: number;
}

/** The files that an approval of a halt may remove from the platform. */
const filesAtStake = z.object({
  count: z.int().nonnegative(),
  /** The first paths, in path order. */
  first: z.array(z.string()),
  /** Digest of all paths; empty where the halt is known before the paths are. */
  digest: z.string(),
});

export type FilesAtStake = z.infer<typeof filesAtStake>;

/** `meant`: a similar path that exists; `above`: the nearest directory above it that exists. */
const nearestDirectory = z.object({ kind: z.enum(['meant', 'above']), path: z.string() });

export type NearestDirectory = z.infer<typeof nearestDirectory>;

/** Why a source's directory cannot be synced. `field` names the directory in the configuration, such as `sources[0].directory`. */
const directoryFault = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('not-a-directory'), field: z.string() }),
  z.object({
    kind: z.literal('not-found'),
    field: z.string(),
    nearest: nearestDirectory,
  }),
  /** `code`: of the system's error. */
  z.object({ kind: z.literal('unreadable'), field: z.string(), code: z.string() }),
  z.object({ kind: z.literal('unlistable'), code: z.string() }),
  z.object({ kind: z.literal('silent') }),
  z.object({ kind: z.literal('lost-during-scan') }),
  z.object({ kind: z.literal('ignore-file-too-large'), file: z.string(), maxBytes: z.int() }),
  z.object({ kind: z.literal('ignore-pattern'), file: z.string(), line: z.int(), problem: z.string() }),
]);

export type DirectoryFault = z.infer<typeof directoryFault>;

const removalExcess = z.discriminatedUnion('kind', [
  /** More removals than `removals.maxCount` or `removals.maxFraction`, which is `limit`. `guardRemovals` explains the counts. */
  z.object({
    kind: z.enum(['count', 'fraction']),
    wanted: z.int(),
    recent: z.int(),
    recorded: z.int(),
    limit: z.number(),
  }),
  /**
   * The number of orphans that may be hidden: their directories have no files now, or a file system was mounted or unmounted
   * there.
   */
  z.object({ kind: z.literal('hidden'), orphans: z.int() }),
]);

export type RemovalExcess = z.infer<typeof removalExcess>;

/** `directory` is the path of the source's directory; `identity` is that of the directory that was found. */
export const haltSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('missing'), directory: z.string(), fault: directoryFault }),
  z.object({
    kind: z.literal('emptied'),
    directory: z.string(),
    identity: z.string(),
    atStake: filesAtStake,
  }),
  z.object({
    kind: z.literal('replaced'),
    directory: z.string(),
    identity: z.string(),
    /** This host has checked the directory before. */
    isKnown: z.boolean(),
    /** Of the recorded files that were checked. */
    found: z.int(),
    checked: z.int(),
    atStake: filesAtStake,
  }),
  /**
   * File systems were mounted or unmounted below the directory, with files of the source. `place` is relative to the directory.
   */
  z.object({
    kind: z.literal('mounts-changed'),
    directory: z.string(),
    mounts: z.array(z.object({ place: z.string(), isMounted: z.boolean() })),
    atStake: filesAtStake,
  }),
  /**
   * The source's files are recorded in one place of the platform and would be sent to another; both in the form of
   * `StateReader.place`.
   */
  z.object({
    kind: z.literal('new-keys'),
    from: z.string(),
    to: z.string(),
    recorded: z.int(),
    changes: z.array(z.object({ field: z.string(), before: z.string(), now: z.string() })),
    atStake: filesAtStake,
  }),
  z.object({
    kind: z.literal('mass-removal'),
    excess: removalExcess,
    /** Latest time at which the rejected removals were noticed, epoch milliseconds. */
    noticedUntilMs: z.number(),
    atStake: filesAtStake,
  }),
]);

/** Why a source is halted: nothing is removed until somebody approves. Stored as JSON; `src/words/halt.ts` has the sentences. */
export type Halt = z.infer<typeof haltSchema>;

/** The treatment of a kind of halt. A new kind has its row here, its sentence in `src/words/halt.ts`, and the check that finds it. */
export interface HaltTraits {
  /** The host may not see the files: in a cluster another host may take the source. */
  readonly isUnseen: boolean;
  /** The files at stake are missing in the directory. */
  readonly lacksFiles: boolean;
  /** Files are sent all the same; only removals wait. */
  readonly sends: boolean;
  /** Somebody can approve the halt; otherwise it ends when its cause is gone. */
  readonly isApprovable: boolean;
  /** An approval covers all removals of the source. */
  readonly removesMany: boolean;
}

export const HALT_TRAITS = {
  missing: { isUnseen: true, lacksFiles: true, sends: false, isApprovable: false, removesMany: false },
  emptied: { isUnseen: true, lacksFiles: true, sends: false, isApprovable: true, removesMany: true },
  replaced: { isUnseen: true, lacksFiles: true, sends: false, isApprovable: true, removesMany: true },
  'mounts-changed': {
    isUnseen: true,
    lacksFiles: true,
    sends: false,
    isApprovable: true,
    removesMany: false,
  },
  'new-keys': { isUnseen: false, lacksFiles: false, sends: false, isApprovable: true, removesMany: true },
  'mass-removal': { isUnseen: false, lacksFiles: true, sends: true, isApprovable: true, removesMany: false },
} as const satisfies Readonly<Record<Halt['kind'], HaltTraits>>;

export type MissingHalt = Extract<Halt, { kind: 'missing' }>;

/** The approval for a source: for one halt, for any halt, or none. */
export type Approved = Halt | 'anything' | null;

/** Returns the digest that identifies a halt in its approval. */
export function haltDigest(halt: Halt): string {
  return createHash('sha256')
    .update(JSON.stringify(essenceOf(halt)))
    .digest('hex')
    .slice(0, 16);
}

/** Leaves out times and counts that do not make it another halt. */
function essenceOf(halt: Halt): readonly unknown[] {
  switch (halt.kind) {
    case 'missing':
      return [halt.kind];
    case 'replaced':
    case 'emptied':
      return [halt.kind, halt.identity];
    case 'mounts-changed':
      return [halt.kind, ...halt.mounts.map(({ place }) => place)];
    case 'new-keys':
      return [halt.kind, halt.from, halt.to];
    case 'mass-removal':
      return [halt.kind, halt.atStake.count, halt.atStake.digest];
  }
}

/**
 * Returns whether an approval covers a later halt: it must be the same directory and no other mount. A missing directory cannot
 * be approved; mass removals are approved by the time they were noticed, see `approvedUntil`.
 */
export function isApproved(halt: Halt, approved: Approved): boolean {
  if (approved === 'anything') return HALT_TRAITS[halt.kind].isApprovable;
  if (approved === null) return false;
  switch (halt.kind) {
    case 'missing':
    case 'mass-removal':
      return false;
    case 'replaced':
    case 'emptied':
      return approved.kind === halt.kind && approved.identity === halt.identity;
    case 'new-keys':
      return approved.kind === halt.kind && approved.from === halt.from && approved.to === halt.to;
    case 'mounts-changed':
      return (
        approved.kind === halt.kind &&
        halt.mounts.every(({ place }) => approved.mounts.some((one) => one.place === place))
      );
  }
}

/** Removals are approved if they were noticed by this time, epoch milliseconds. */
export function approvedUntil(approved: Approved): number {
  if (approved === 'anything') return Infinity;
  return approved?.kind === 'mass-removal' ? approved.noticedUntilMs : -Infinity;
}

/** Removals are counted over this window, milliseconds, to notice a slow mass deletion too. */
export const REMOVAL_WINDOW_MS = 3_600_000;

/** Up to this many removals are never a mass: in a small folder two files are soon half of it. */
export const FEW_FILES = 10;

/**
 * Returns why a guard rejects these removals; `null`: they may go ahead. A failed mount is not a deletion.
 *
 * @param wanted - removals that are due now.
 * @param recent - removals carried out within `REMOVAL_WINDOW_MS`.
 * @param recorded - files the source had, including those removed within the window.
 */
export function guardRemovals(
  wanted: number,
  recent: number,
  recorded: number,
  limits: RemovalLimits,
): RemovalExcess | null {
  const total = wanted + recent;
  if (wanted === 0) return null;
  const counts = { wanted, recent, recorded };
  if (total > limits.maxCount) return { kind: 'count', ...counts, limit: limits.maxCount };
  if (total > FEW_FILES && total > recorded * limits.maxFraction)
    return { kind: 'fraction', ...counts, limit: limits.maxFraction };
  return null;
}
