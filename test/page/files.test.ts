import { expect, test } from 'vitest';
import type { FileEntry } from '../../src/sync/plan/list-files.ts';
import { renderFiles, type FilePage } from '../../src/page/files.ts';
import { filesAddress, readFilesQuery, type FilesQuery } from '../../src/page/files-query.ts';
import { at, factsOf } from './facts.ts';

const ALL: FilesQuery = { source: '', state: '', text: '', after: null };

const ENTRY: FileEntry = {
  ...{ source: 'docs', path: 'a.md', key: 'a.md', botId: 'bot-1', local: 'there', bytes: 1200 },
  ...{ platform: 'stored', group: 'in-sync', isUnindexed: false, isUnderOwnKey: true },
  ...{ expiresAt: null, reason: null },
};

/** What a person reads. */
function read(query: Partial<FilesQuery>, page: FilePage | string): string {
  return renderFiles(factsOf({ sources: [{ name: 'docs', refused: 3 }] }), { ...ALL, ...query }, page)
    .replace(/<(style|script|title)>.*?<\/\1>/gsu, ' ')
    .replace(/<[^>]*>/gu, ' ')
    .replace(/\s+/gu, ' ');
}

test.each<[Partial<FileEntry>, string]>([
  [{}, 'docs/a.md stored 1.2 kB'],
  [{ expiresAt: at(7200) }, 'docs/a.md stored 1.2 kB 2026-11-22 14:00:00 UTC ( in 2 h )'],
  [
    { platform: 'sent', group: 'unconfirmed', isUnderOwnKey: false, key: 'old/a.md', botId: 'bot-0' },
    'docs/a.md sent, not confirmed key old/a.md of bot-0 1.2 kB',
  ],
  [
    { group: 'refused', reason: 'too large' },
    'docs/a.md refused on the platform as it was: stored too large 1.2 kB',
  ],
  [
    { platform: 'none', group: 'waiting', bytes: 0, key: null, reason: 'changed, and not sent yet' },
    'docs/a.md waiting changed, and not sent yet',
  ],
  [{ platform: 'kept', group: 'kept', local: 'gone' }, 'docs/a.md kept no local file 1.2 kB'],
])('a file that is %j is told in words', (some, words) => {
  expect(read({}, { entries: [{ ...ENTRY, ...some }], next: null, checked: null })).toContain(words);
});

test('a list says where it ends, and how it goes on', () => {
  const next = { source: 'docs', target: 1, path: 'b.md' };
  const nothing = { entries: [], next: null, checked: null };
  expect(read({}, nothing)).toContain('in sync: 1,204');
  expect(read({}, nothing)).toContain('No file is on record.');
  expect(read({ text: 'x' }, nothing)).toContain('No file is like that.');
  expect(read({ after: next }, nothing)).toMatch(/No more files\. .*First page/u);
  expect(read({}, { entries: [ENTRY], next, checked: null })).toMatch(/1 file on this page.* Next page/u);
  expect(read({ state: 'kept' }, { entries: [], next, checked: 100_000 })).toMatch(
    /Files: kept.* No file found yet\. .*100,000 files checked so far\. Continue/u,
  );
  expect(read({}, 'The state file is not open.')).toContain('The state file is not open.');
});

test('the address has what is chosen, whatever names there are, and takes no nonsense', () => {
  const odd = '<a href="x">&?=#%\u202e\r\n \u{10000}';
  const query: FilesQuery = {
    ...{ source: odd, state: 'to-remove', text: 'a & b' },
    after: { source: odd, target: -2, path: odd },
  };
  const search = (address: string): URLSearchParams => new URL(address, 'http://localhost').searchParams;
  expect(readFilesQuery(search(filesAddress(query)))).toEqual(query);
  expect(filesAddress(ALL)).toBe('/files');
  for (const nonsense of ['state=toString', 'from=docs', 'from=docs&target=x&after=a', 'target=1&after=a'])
    expect(readFilesQuery(new URLSearchParams(nonsense))).toEqual(ALL);
});

test.each(['<img src=x onerror=alert(1)>', `"'><script>alert(1)</script>`, 'a\u202egnp\r\n\u0007.exe'])(
  'the name %j stays a name wherever it is in the list',
  (name) => {
    const write = (text: string): string =>
      renderFiles(
        factsOf({ sources: [{ name: text }], facts: { host: text, bots: [{ id: text, name: text }] } }),
        { source: text, state: 'failed', text, after: { source: text, target: 1, path: text } },
        {
          entries: [
            {
              ...{ ...ENTRY, source: text, path: text, key: text, botId: text, reason: text },
              isUnderOwnKey: false,
            },
          ],
          next: { source: text, target: 1, path: text },
          checked: 7,
        },
      );
    const [written, harmless] = [write(name), write('name')];
    expect(written.match(/<[a-z!/]/giu)?.length).toBe(harmless.match(/<[a-z!/]/giu)?.length);
    expect(written.match(/="/gu)?.length).toBe(harmless.match(/="/gu)?.length);
    expect(written.replace(/="[^"]*"/gu, '')).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u,
    );
  },
);
