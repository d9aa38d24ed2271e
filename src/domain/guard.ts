/** The config's `removals`, as far as the guard needs it. */
export interface RemovalLimits {
  readonly maxCount: number;
  /** Of the source's recorded files, above 0 up to 1. */
  readonly maxFraction: number;
}

/** Why a source was halted: nothing of it is sent or removed until someone looked. */
export type Halt =
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'replaced'; readonly reason: string }
  | { readonly kind: 'emptied'; readonly reason: string }
  | { readonly kind: 'mass-removal'; readonly reason: string };

/** Removals are counted over this long, milliseconds: a slow mass deletion is one as well. */
export const REMOVAL_WINDOW_MS = 3_600_000;

/** Up to this many removals no fraction is taken: in a small folder two files are soon half of it. */
const FRACTION_APPLIES_ABOVE = 10;

/**
 * Whether so many removals are believed (design: a failed mount is not a deletion).
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
  const counted = `${total} of ${recorded} files would be removed within an hour`;
  if (total > limits.maxCount) {
    return { kind: 'mass-removal', reason: `${counted}, more than removals.maxCount (${limits.maxCount})` };
  }
  if (total > FRACTION_APPLIES_ABOVE && total > recorded * limits.maxFraction) {
    return {
      kind: 'mass-removal',
      reason: `${counted}, more than removals.maxFraction (${limits.maxFraction})`,
    };
  }
  return null;
}
