import type { FileGroup, PlatformState, SourceStatus } from '../domain/status.ts';

/** A count of files; `group`: `null` if no list has exactly these. */
export interface CountWords {
  readonly group: FileGroup | null;
  readonly text: string;
}

/** Returns the counts of a source's files that are not simply in sync. `sending`: the words for files being sent. */
export function describeOthers(source: SourceStatus, sending: string): CountWords[] {
  const counts: readonly (readonly [number, FileGroup | null, string])[] = [
    [source.unconfirmed, 'unconfirmed', GROUP_WORDS.unconfirmed],
    [source.sending, 'sending', sending],
    [source.pending, 'waiting', GROUP_WORDS.waiting],
    [source.failed, 'failed', GROUP_WORDS.failed],
    [source.refused, 'refused', GROUP_WORDS.refused],
    [source.problems, 'problem', source.problems === 1 ? 'problem' : 'problems'],
    [source.unsearchable, 'unsearchable', GROUP_WORDS.unsearchable.toUpperCase()],
    [source.toRemove, 'to-remove', GROUP_WORDS['to-remove']],
    [source.kept, 'kept', GROUP_WORDS.kept],
    [source.expiring, null, 'COULD NOT BE RENEWED IN TIME'],
  ];
  return counts.flatMap(([count, group, what]) =>
    count > 0 ? [{ group, text: `${count.toLocaleString('en')} ${what}` }] : [],
  );
}

/** Follow the number of files, except for `problem`. */
export const GROUP_WORDS: Readonly<Record<FileGroup, string>> = {
  'in-sync': 'in sync',
  unconfirmed: 'being indexed or not confirmed yet',
  sending: 'being sent',
  waiting: 'waiting',
  failed: 'failed',
  refused: 'refused',
  problem: 'problem',
  unsearchable: 'not searchable',
  'to-remove': 'to remove from the platform',
  kept: 'kept on the platform (no longer synced)',
  gone: 'removed or expired',
};

/** Returns how many files of a source are in a group; `null`: not counted. */
export function countOf(source: SourceStatus, group: FileGroup): number | null {
  const field = COUNTS[group];
  return field === null ? null : source[field];
}

const COUNTS = {
  'in-sync': 'files',
  unconfirmed: 'unconfirmed',
  sending: 'sending',
  waiting: 'pending',
  failed: 'failed',
  refused: 'refused',
  problem: 'problems',
  unsearchable: 'unsearchable',
  'to-remove': 'toRemove',
  kept: 'kept',
  gone: null,
} as const satisfies Record<FileGroup, keyof SourceStatus | null>;

/** States of files on the platform. */
export const PLATFORM_WORDS: Readonly<Record<PlatformState, string>> = {
  searchable: 'searchable',
  stored: 'stored',
  sent: 'sent, not confirmed',
  sending: 'being sent',
  failed: 'failed',
  refused: 'refused',
  unsearchable: 'not searchable',
  different: 'different',
  replaced: 'replaced',
  kept: 'kept',
  'to-remove': 'to remove',
  removed: 'removed',
  expired: 'expired',
  none: 'not on the platform',
};
