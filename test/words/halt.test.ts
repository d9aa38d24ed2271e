import { textOf } from '../../src/service/logger.ts';
import { expect, test } from 'vitest';
import type { DirectoryFault, Halt } from '../../src/domain/guard.ts';
import { haltWords } from '../../src/words/event.ts';
import { describeHalt, haltAsFileEvent } from '../../src/words/halt.ts';

const atStake = { count: 3, first: ['a.md', 'b.md', 'c.md'], digest: 'x' };
const directory = '/srv/docs';
const missing = (fault: DirectoryFault): Halt => ({ kind: 'missing', directory, fault });
const removal = { kind: 'mass-removal', noticedUntilMs: 5, atStake } as const;
const FIELD = 'sources[0].directory';

test.each<[string, Halt]>([
  ['/srv/docs is not a directory (sources[0].directory)', missing({ kind: 'not-a-directory', field: FIELD })],
  [
    '/srv/docs does not exist (sources[0].directory; did you mean /srv/doc?)',
    missing({ kind: 'not-found', field: FIELD, nearest: { kind: 'meant', path: '/srv/doc' } }),
  ],
  [
    '/srv/docs does not exist (sources[0].directory; the nearest directory that exists is /srv)',
    missing({ kind: 'not-found', field: FIELD, nearest: { kind: 'above', path: '/srv' } }),
  ],
  [
    '/srv/docs cannot be read: EACCES (sources[0].directory)',
    missing({ kind: 'unreadable', field: FIELD, code: 'EACCES' }),
  ],
  ['/srv/docs cannot be listed: EIO', missing({ kind: 'unlistable', code: 'EIO' })],
  ['/srv/docs does not answer', missing({ kind: 'silent' })],
  ['/srv/docs was unmounted, removed or replaced during the scan', missing({ kind: 'lost-during-scan' })],
  [
    '/srv/docs/.botsyncignore is larger than 9 bytes',
    missing({ kind: 'ignore-file-too-large', file: '.botsyncignore', maxBytes: 9 }),
  ],
  [
    '/srv/docs/.botsyncignore: line 2 is no pattern',
    missing({ kind: 'ignore-pattern', file: '.botsyncignore', line: 2, problem: 'is no pattern' }),
  ],
  [
    '/srv/docs has no files, although files of it were recorded',
    { kind: 'emptied', directory, identity: 'i', atStake },
  ],
  [
    '/srv/docs is not the same directory as before, and contains 1 of 4 recorded files checked',
    { kind: 'replaced', directory, identity: 'i', isKnown: true, found: 1, checked: 4, atStake },
  ],
  [
    '/srv/docs was not checked before on this host, and contains 1 of 4 recorded files checked',
    { kind: 'replaced', directory, identity: 'i', isKnown: false, found: 1, checked: 4, atStake },
  ],
  [
    'no longer mounted: /srv/docs/nas, /srv/docs/usb; newly mounted over files of the source: /srv/docs/tmp',
    {
      kind: 'mounts-changed',
      directory,
      mounts: [
        { place: 'nas', isMounted: false },
        { place: 'tmp', isMounted: true },
        { place: 'usb', isMounted: false },
      ],
      atStake,
    },
  ],
  [
    '3 of 4 files would get new keys (sources[0].keyPrefix "" → a/, platform.baseUrl x → y)',
    {
      ...{ kind: 'new-keys', from: 'f', to: 't', recorded: 4, atStake },
      changes: [
        { field: 'sources[0].keyPrefix', before: '', now: 'a/' },
        { field: 'platform.baseUrl', before: 'x', now: 'y' },
      ],
    },
  ],
  [
    '3 of 9 files would be removed within an hour, more than removals.maxCount (2)',
    { ...removal, excess: { kind: 'count', wanted: 3, recent: 0, recorded: 9, limit: 2 } },
  ],
  [
    '2 of 9 files were removed within an hour, and 3 more would be, more than removals.maxFraction (0.5)',
    { ...removal, excess: { kind: 'fraction', wanted: 3, recent: 2, recorded: 9, limit: 0.5 } },
  ],
  [
    '2 orphans may be hidden: their directories have no files now, or a file system was mounted or unmounted there',
    { ...removal, excess: { kind: 'hidden', orphans: 2 } },
  ],
])('%s', (text, halt) => {
  expect(describeHalt(halt)).toBe(text);
});

test('the log and JSON say what was left undone and how to approve', () => {
  const facts = {
    source: 'docs',
    halt: missing({ kind: 'silent' }),
    howToApprove: 'run: botsync approve docs',
  };
  expect(textOf(haltWords(facts))).toBe('halted docs: /srv/docs does not answer; nothing was removed');
  const emptied: Halt = { kind: 'emptied', directory, identity: 'i', atStake };
  expect(haltAsFileEvent({ ...facts, halt: emptied })).toEqual({
    kind: 'problem',
    source: 'docs',
    path: '.',
    key: null,
    reason:
      'halted: /srv/docs has no files, although files of it were recorded; nothing was removed; if that is right, run: botsync approve docs',
  });
});
