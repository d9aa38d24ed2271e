import type { Subject, Trouble } from '../../src/notify/trouble.ts';
import type { Snapshot } from '../../src/notify/trouble.ts';
import type { Wording } from '../../src/notify/words.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE = 60_000;

/** What messages say of a run. */
export const WORDING: Wording = {
  host: 'web1',
  commands: {
    status: 'botsync status -c x',
    doctor: 'botsync doctor -c x',
    cluster: 'botsync cluster status -c x',
    approve: (source) => `botsync approve ${source} -c x`,
  },
};

export const failing = (count: number, source = 'docs'): Trouble => ({
  kind: 'failing',
  source,
  count,
  path: 'a.md',
  reason: '500',
});
export const expiring = (count: number): Trouble => ({ kind: 'expiring', source: 'docs', count });
export const HALTED: Trouble = { kind: 'halted', source: 'docs', reason: 'it is gone' };
export const REFUSED: Trouble = { kind: 'credentials', reason: '401' };
export const LOST: Trouble = { kind: 'out-of-reach' };

export const UNSYNCED: Trouble = { kind: 'unsynced', source: 'docs', silent: 'web2' };

/** A snapshot of the sources docs and more. */
export function snapshot(troubles: readonly Trouble[], unknown: readonly Subject[] = []): Snapshot {
  return { sources: ['docs', 'more'], troubles, unknown };
}
