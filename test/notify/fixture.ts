import type { Subject, Trouble, Snapshot } from '../../src/notify/trouble.ts';
import type { Wording } from '../../src/notify/words.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE = 60_000;

/** What messages say of a run. */
export const WORDING: Wording = {
  host: 'web1',
  commands: {
    status: 'botsync status -c x',
    doctor: 'botsync doctor -c x',
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
export const HALTED: Trouble = {
  kind: 'halted',
  source: 'docs',
  halt: { kind: 'missing', directory: '/srv/docs', fault: { kind: 'silent' } },
};
export const REFUSED: Trouble = { kind: 'credentials', reason: '401' };
export const MISCONFIGURED: Trouble = { kind: 'configuration', reason: 'a.json:4:15: no value' };
export const LOST: Trouble = { kind: 'out-of-reach' };

/** A snapshot of the sources docs and more. */
export function snapshot(troubles: readonly Trouble[], unknown: readonly Subject[] = []): Snapshot {
  return { sources: ['docs', 'more'], troubles, unknown };
}
