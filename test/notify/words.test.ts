import { expect, test } from 'vitest';
import { wordNotice, wordSummary, wordTest, type Figures } from '../../src/notify/words.ts';
import { subjectOf, type Trouble } from '../../src/notify/trouble.ts';
import { expiring, failing, HALTED, LOST, MISCONFIGURED, NOW, REFUSED, WORDING } from './fixture.ts';

const many: Trouble = {
  kind: 'failing',
  source: 'docs',
  count: 1200,
  path: 'a.md',
  reason: '413 PayloadTooLarge',
};

const MASS_REMOVAL: Trouble = {
  kind: 'halted',
  source: 'docs',
  halt: {
    kind: 'mass-removal',
    excess: { kind: 'fraction', wanted: 40, recent: 0, recorded: 50, limit: 0.5 },
    noticedUntilMs: 0,
    atStake: { count: 40, first: [], digest: '' },
  },
};

test.each<[Trouble, string, string]>([
  [
    failing(1),
    '1 file of docs is not in sync: a.md (500). Run: botsync status -c x',
    'all files of docs are in sync again.',
  ],
  [
    many,
    '1,200 files of docs are not in sync: the first is a.md (413 PayloadTooLarge). Run: botsync status -c x',
    'all files of docs are in sync again.',
  ],
  [
    HALTED,
    'docs is halted; nothing of it is sent: /srv/docs does not answer. Check its directory. A missing directory only has to be restored; if everything is as it should be, run: botsync approve docs -c x',
    'docs is no longer halted.',
  ],
  [
    MASS_REMOVAL,
    'docs is halted; nothing of it is removed: 40 of 50 files would be removed within an hour, more than removals.maxFraction (0.5). Check its directory. A missing directory only has to be restored; if everything is as it should be, run: botsync approve docs -c x',
    'docs is no longer halted.',
  ],
  [
    expiring(2),
    '2 files of docs could not be renewed in time and will expire. Run: botsync status -c x',
    'all files of docs that expire are renewed.',
  ],
  [
    REFUSED,
    'the platform refuses the credentials: 401. Run: botsync doctor -c x',
    'the platform no longer refuses the credentials.',
  ],
  [
    MISCONFIGURED,
    'the configuration on disk cannot be loaded, and the one before is in use: a.json:4:15: no value. Run: botsync doctor -c x',
    'the configuration on disk is in use again.',
  ],
  [
    LOST,
    'the platform is unreachable, and all files wait. Run: botsync doctor -c x',
    'the platform is reachable again.',
  ],
])('%j in words', (trouble, began, over) => {
  const host = 'botsync on web1: ';
  expect(wordNotice({ kind: 'began', trouble }, WORDING)).toBe(host + began);
  expect(wordNotice({ kind: 'grew', trouble }, WORDING)).toBe(`${host}now ${began}`);
  expect(wordNotice({ kind: 'over', subject: subjectOf(trouble) }, WORDING)).toBe(host + over);
});

test('names and reasons are shown without control characters, and cut', () => {
  const trouble: Trouble = { ...many, path: `\u001b[31m\n${'🚲'.repeat(300)}`, reason: 'x'.repeat(10_000) };
  const text = wordNotice({ kind: 'began', trouble }, WORDING);
  expect(text).toContain('\\u001b[31m\\u000a🚲');
  expect(text.length).toBeLessThan(600);
  expect(text).not.toMatch(/\p{Surrogate}/u);
});

const FIGURES: Figures = { files: 1234, bytes: 5_600_000, sentFiles: 0, sentBytes: 0, nextExpiryMs: null };

test('a summary in words', () => {
  expect(wordSummary(FIGURES, [], NOW, WORDING)).toBe(
    'botsync on web1: 1,234 files in sync (5.6 MB). Sent since 2026-03-01T12:00Z: nothing. No problems.',
  );
  const busy = { ...FIGURES, sentFiles: 1, sentBytes: 3, nextExpiryMs: NOW + 86_400_000 };
  expect(wordSummary(busy, [failing(1), LOST], NOW, WORDING)).toBe(
    'botsync on web1: 1,234 files in sync (5.6 MB). Sent since 2026-03-01T12:00Z: 1 file (3 B). Next expiry: 2026-03-02T12:00Z. ' +
      'Problems: 1 file of docs is not in sync: a.md (500); the platform is unreachable, and all files wait. Run: botsync status -c x',
  );
});

test('a test in words', () => {
  expect(wordTest(WORDING)).toBe('botsync on web1: this is a test. Notifications of botsync arrive here.');
});
