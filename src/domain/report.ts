/** What happened to a file in a pass, or in a dry run would. */
export type EventKind =
  'upload' | 'renew' | 'update' | 'adopt' | 'remove' | 'skip' | 'refuse' | 'problem' | 'confirm';

/** One line of `sync --json`: a file that is not simply unchanged. */
export interface FileEvent {
  readonly kind: EventKind;
  readonly source: string;
  /** Relative to the source; "." for the source itself. */
  readonly path: string;
  readonly key: string | null;
  readonly reason: string;
  /** Absent in a dry run, and where nothing was to be carried out. Of a file that was confirmed: what the platform has. */
  readonly outcome?: 'done' | 'failed' | 'stored' | 'searchable';
  /** Why the outcome is `failed`. */
  readonly error?: string;
}

/** The counts of a pass; the last line of `sync --json`. In a dry run: what would be done. */
export interface Summary {
  uploaded: number;
  renewed: number;
  /** Files of which other facts were told, without sending their content. */
  updated: number;
  /** Files that the platform had already, though nothing was on record of them. */
  adopted: number;
  removed: number;
  unchanged: number;
  skipped: number;
  refused: number;
  failed: number;
  problems: number;
  /** Files that are no longer synced and left alone on the platform: removed, or left out from now on. */
  kept: number;
  /** Files that were deleted here and are still on the platform: their removal waits, for its time or for a halt to end. */
  toRemove: number;
  /** Files that were not tried because something larger stood in the way. */
  pending: number;
  /** Files that were sent over files of the platform that botsync did not put there, as far as that is known. */
  overwritten: number;
  /** Files that were sent, of which the platform has not said yet their status. */
  unconfirmed: number;
  /** Content bytes the store took. */
  bytes: number;
  durationMs: number;
}

/** A summary of nothing. */
export function emptySummary(): Summary {
  return {
    uploaded: 0,
    renewed: 0,
    updated: 0,
    adopted: 0,
    removed: 0,
    unchanged: 0,
    skipped: 0,
    refused: 0,
    failed: 0,
    problems: 0,
    kept: 0,
    toRemove: 0,
    pending: 0,
    overwritten: 0,
    unconfirmed: 0,
    bytes: 0,
    durationMs: 0,
  };
}
/** What the sending of a file took: the attempt that succeeded. */

export interface Transferred {
  readonly bytes: number;
  readonly durationMs: number;
}
