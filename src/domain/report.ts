/** A file's event in a pass, or the planned one in a dry run. */
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
  /** Absent in a dry run, and where there was nothing to carry out. For `confirm`: what the platform has. */
  readonly outcome?: 'done' | 'failed' | 'stored' | 'searchable';
  /** Why the outcome is `failed`. */
  readonly error?: string;
}

/** An event in the history of its file. */
export interface LoggedEvent {
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly event: Omit<FileEvent, 'key'>;
}

/** The counts of a pass; the last line of `sync --json`. In a dry run: what would be done. */
export interface Summary {
  uploaded: number;
  renewed: number;
  /** Files whose settings were changed without sending their content. */
  updated: number;
  /** Files without a record that the platform had already. */
  adopted: number;
  removed: number;
  unchanged: number;
  skipped: number;
  refused: number;
  failed: number;
  problems: number;
  /** Files that were deleted or ignored here and that the platform keeps. */
  kept: number;
  /** Files that were deleted here and are still on the platform: their removal waits for its time or for the end of a halt. */
  toRemove: number;
  /** Files that were not tried because of a larger problem. */
  pending: number;
  /** Files that replaced files on the platform that botsync did not put there, as far as known. */
  overwritten: number;
  /** Sent files whose status the platform has not confirmed yet. */
  unconfirmed: number;
  /** Content bytes that the store received. */
  bytes: number;
  durationMs: number;
}

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
/** Size and duration of the successful attempt to send a file. */

export interface Transferred {
  readonly bytes: number;
  readonly durationMs: number;
}
