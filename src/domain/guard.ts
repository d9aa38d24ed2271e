/** The config's `removals`, as far as the guard needs it. */
export interface RemovalLimits {
  readonly maxCount: number;
  /** Of the source's recorded files, above 0 up to 1. */
  readonly maxFraction: number;
}

/** Why a source was halted. Nothing more of it is removed until someone looked; unless it is for that alone, nothing is sent either. */
export type Halt =
  | { readonly kind: 'missing'; readonly reason: string }
  /** `directory`: what the directory that was found is recognised by. */
  | { readonly kind: 'replaced' | 'emptied'; readonly reason: string; readonly directory: string }
  /** `mounts`: the places below the directory, relative to it, where file systems were mounted that hold files of it. */
  | { readonly kind: 'unmounted'; readonly reason: string; readonly mounts: readonly string[] }
  /** `removals`: carried out within the hour and due, together. */
  | { readonly kind: 'mass-removal'; readonly reason: string; readonly removals: number };

/**
 * Whether somebody who approved of one halt has approved of another, met later: it must be the same directory, no
 * other mount, and no more removals. What is missing cannot be approved.
 */
export function isApproved(halt: Halt, approved: Halt): boolean {
  switch (halt.kind) {
    case 'missing':
      return false;
    case 'replaced':
    case 'emptied':
      return approved.kind === halt.kind && approved.directory === halt.directory;
    case 'unmounted':
      return approved.kind === halt.kind && halt.mounts.every((mount) => approved.mounts.includes(mount));
    case 'mass-removal':
      return approved.kind === halt.kind && halt.removals <= approved.removals;
  }
}

/** Removals are counted over this long, milliseconds: a slow mass deletion is one as well. */
export const REMOVAL_WINDOW_MS = 3_600_000;

/** Up to this many removals no fraction is taken: in a small folder two files are soon half of it. */
const FRACTION_APPLIES_ABOVE = 10;

/**
 * Whether so many removals are believed: a failed mount is not a deletion.
 *
 * @param wanted - removals that are due now.
 * @param recent - removals carried out within `REMOVAL_WINDOW_MS`.
 * @param recorded - files the source had, those removed within the window included.
 * @returns the halt, or `null` when they may go ahead.
 */
export function guardRemovals(
  wanted: number,
  recent: number,
  recorded: number,
  limits: RemovalLimits,
): Halt | null {
  const total = wanted + recent;
  if (wanted === 0) return null;
  const counted =
    recent === 0
      ? `${total} of ${recorded} files would be removed within an hour`
      : `${recent} of ${recorded} files were removed within an hour, and ${wanted} more would be`;
  if (total > limits.maxCount) {
    return {
      kind: 'mass-removal',
      reason: `${counted}, more than removals.maxCount (${limits.maxCount})`,
      removals: total,
    };
  }
  if (total > FRACTION_APPLIES_ABOVE && total > recorded * limits.maxFraction) {
    return {
      kind: 'mass-removal',
      reason: `${counted}, more than removals.maxFraction (${limits.maxFraction})`,
      removals: total,
    };
  }
  return null;
}
