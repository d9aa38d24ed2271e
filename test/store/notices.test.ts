import { expect, test } from 'vitest';
import {
  addSending,
  addSynced,
  attempt,
  FOREVER,
  NOW,
  openStore,
  path,
  row,
  SHA,
  TARGET,
} from './fixture.ts';

const UNREADABLE = { kind: 'unreadable', code: 'EACCES' } as const;
const OTHER = Buffer.alloc(32, 8);

test('files that are astray are counted by source, with the first in path order', () => {
  const store = openStore();
  const target = store.targetId(TARGET);
  const other = store.targetId({ ...TARGET, botId: 'bot-2' });
  const astray = () => store.notices.failingFiles(new Map([['docs', target]]));
  expect(astray()).toEqual([]);
  addSynced(store, target, 'docs', 'fine');
  for (const [name, state] of [
    ['b', 'failed'],
    ['a', 'refused'],
  ] as const) {
    const id = addSending(store, target, 'docs', name);
    // On its way for the first time.
    expect(astray().some((one) => one.path === name)).toBe(false);
    store.recordFailure(id, attempt(), { state, reason: `${name} failed`, upserted: true }, NOW);
  }
  const elsewhere = addSending(store, other, 'docs', 'elsewhere');
  store.recordFailure(elsewhere, attempt(), { state: 'failed', reason: 'x', upserted: true }, NOW);
  const gone = addSending(store, target, 'docs', 'gone');
  store.recordFailure(gone, attempt(), { state: 'failed', reason: 'x', upserted: true }, NOW);
  store.setAbsence(gone, 'removed', NOW);
  store.problems.note({ source: 'more', path: 'm', key: null, kind: 'problem', reason: UNREADABLE }, 1);
  store.problems.note({ source: 'docs', path: 'c', key: null, kind: 'problem', reason: UNREADABLE }, 1);
  // A file of its own row counts once.
  store.problems.note({ source: 'docs', path: 'b', key: null, kind: 'problem', reason: UNREADABLE }, 1);
  expect(astray()).toEqual([{ source: 'docs', count: 3, path: 'a', reason: 'a failed' }]);
  // Somebody wants these to wait.
  const paused = { kind: 'waiting', cause: { kind: 'paused' } } as const;
  store.problems.note({ source: 'docs', path: 'd', key: 'd', kind: 'pending', reason: paused }, 1);
  expect(astray()).toMatchObject([{ count: 3 }]);
  // Tried again: not in sync until that has worked.
  addSending(store, target, 'docs', 'a');
  expect(astray()).toMatchObject([{ count: 3, path: 'a' }]);
  store.recordSynced(row(target, 'a'), attempt(), SHA, FOREVER, NOW);
  expect(astray()).toMatchObject([{ count: 2, path: 'b' }]);
});

test('what people were told is remembered and forgotten', () => {
  const { notices } = openStore();
  notices.saveTold('["failing","docs"]', { toldAtMs: NOW, count: 3 });
  notices.saveTold('["credentials"]', { toldAtMs: NOW, count: null });
  notices.saveTold('["failing","docs"]', { toldAtMs: NOW + 1, count: 4 });
  expect(notices.told()).toEqual(
    new Map([
      ['["credentials"]', { toldAtMs: NOW, count: null }],
      ['["failing","docs"]', { toldAtMs: NOW + 1, count: 4 }],
    ]),
  );
  notices.saveTold('["failing","docs"]', null);
  expect([...notices.told().keys()]).toEqual(['["credentials"]']);
});

test('a conversation is remembered by its purpose', () => {
  const { notices } = openStore();
  expect(notices.conversation('a')).toBeNull();
  notices.saveConversation('a', 'conv_1');
  expect(notices.conversation('a')).toEqual({ id: 'conv_1', isProven: false });
  notices.proveConversation('a');
  expect(notices.conversation('a')).toEqual({ id: 'conv_1', isProven: true });
  expect(notices.conversation('b')).toBeNull();
  notices.forgetConversation('a');
  expect(notices.conversation('a')).toBeNull();
});

test('announcements wait until they are closed, and a newer content of a file takes the place of an older one', () => {
  const store = openStore();
  const { notices } = store;
  const target = store.targetId(TARGET);
  const one = { target, key: 'a.mp3', sha256: SHA, url: 'http://x/a', notedAtMs: NOW };
  expect(notices.isAnnounced(target, SHA)).toBe(false);
  notices.addAnnouncement(one);
  expect(notices.isAnnounced(target, SHA)).toBe(true);
  expect(notices.pendingAnnouncements()).toEqual([one]);
  notices.addAnnouncement({ ...one, sha256: OTHER, notedAtMs: NOW + 1 });
  expect(notices.pendingAnnouncements()).toEqual([{ ...one, sha256: OTHER, notedAtMs: NOW + 1 }]);
  notices.closeAnnouncement({ target, sha256: OTHER });
  expect(notices.pendingAnnouncements()).toEqual([]);
  expect([notices.isAnnounced(target, SHA), notices.isAnnounced(target, OTHER)]).toEqual([true, true]);
});

test('what was sent since a moment is counted', async () => {
  const store = openStore();
  const target = store.targetId(TARGET);
  addSynced(store, target, 'docs', 'old');
  const id = row(target, 'new');
  await store.beginSending(id, 'docs', path('new'), attempt({ sizeBytes: 7 }), NOW + 10);
  store.recordSynced(id, attempt({ sizeBytes: 7 }), SHA, FOREVER, NOW + 20);
  expect(store.notices.sentSince(NOW + 5)).toEqual({ files: 1, bytes: 7 });
});
