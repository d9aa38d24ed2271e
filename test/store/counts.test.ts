import { describe, expect, test } from 'vitest';
import type { FileKey, RelativePath } from '../../src/domain/key.ts';
import type { RowId } from '../../src/store/file-reader.ts';
import { StateStore } from '../../src/store/state-store.ts';
import { addSending, addSynced, attempt, begin, NOW, openStore, SHA } from './fixture.ts';

const UNREADABLE = { kind: 'unreadable', code: 'EACCES' } as const;
const TOO_LARGE = { kind: 'too-large', sizeBytes: 2, limitBytes: 1 } as const;
const WAITING = { kind: 'waiting', cause: { kind: 'stopped' } } as const;

describe('counts', () => {
  /** One file of every kind in `docs`. */
  const planted = (): { store: StateStore; target: number } => {
    const { store, target } = begin();
    addSynced(store, target, 'docs', 'synced', { expiresAtMs: NOW + 9 });
    addSynced(store, target, 'docs', 'synced-2', { expiresAtMs: NOW + 5 });
    addSynced(store, target, 'docs', 'expired', { expiresAtMs: NOW });
    addSending(store, target, 'docs', 'sending');
    store.recordFailure(
      addSending(store, target, 'docs', 'failed'),
      attempt(),
      { state: 'failed', reason: 'why', upserted: true },
      NOW,
    );
    store.recordFailure(
      addSending(store, target, 'docs', 'refused'),
      attempt(),
      { state: 'refused', reason: 'no', upserted: false },
      NOW,
    );
    for (const absence of ['removed', 'kept'] as const) {
      store.setAbsence(
        addSynced(store, target, 'docs', `absent-${absence}`, { expiresAtMs: NOW + 3 }),
        absence,
        NOW,
      );
      const failed = addSending(store, target, 'docs', `never-sent-${absence}`);
      store.recordFailure(failed, attempt(), { state: 'failed', reason: 'x', upserted: false }, NOW);
      store.setAbsence(failed, absence, NOW);
      const refused = addSending(store, target, 'docs', `refused-${absence}`);
      store.recordFailure(refused, attempt(), { state: 'refused', reason: 'x', upserted: false }, NOW);
      store.setAbsence(refused, absence, NOW);
    }
    const half = addSynced(store, target, 'docs', 'half-removed');
    store.setAbsence(half, 'removed', NOW);
    store.removals.beginRemoving(half, NOW).catch(() => undefined);
    const removed = addSynced(store, target, 'docs', 'was-removed');
    store.setAbsence(removed, 'removed', NOW);
    store.removals.beginRemoving(removed, NOW).catch(() => undefined);
    store.removals.recordRemoved(removed, 'docs', NOW + 1, NOW);
    addSynced(store, target, 'more', 'other');
    return { store, target };
  };

  test('what is recorded, and which removals are due', () => {
    const { store, target } = planted();
    expect(store.countRecorded(target, 'docs')).toEqual({ present: 6, removed: 2 });
    expect(store.countRecorded(target, 'none')).toEqual({ present: 0, removed: 0 });
    expect(store.removalsDue(target, 'docs', '', NOW, true).map((record) => record.path)).toEqual([
      'absent-removed',
      'half-removed',
    ]);
    expect(
      store.removalsDue(target, 'docs', 'absent-removed', NOW, true).map((record) => record.path),
    ).toEqual(['half-removed']);
    expect(store.removalsDue(target, 'more', '', NOW, true)).toEqual([]);
    expect(store.removalsDue(target + 1, 'docs', '', NOW, true)).toEqual([]);
  });

  test('removals that are due come page by page', () => {
    const { store, target } = begin();
    for (let i = 0; i < 1_001; i++)
      store.setAbsence(addSynced(store, target, 'docs', `a${10_000 + i}`), 'removed', NOW);
    const page = store.removalsDue(target, 'docs', '', NOW, true);
    expect(page.length).toBe(1_000);
    expect(
      store.removalsDue(target, 'docs', page.at(-1)?.path ?? '', NOW, true).map((record) => record.path),
    ).toEqual(['a11000']);
  });

  test('how a source stands', () => {
    const { store, target } = planted();
    expect(store.overview.tallies(NOW)).toMatchObject([
      {
        source: 'docs',
        target,
        files: 2,
        bytes: 10,
        failed: 1,
        sending: 1,
        refused: 1,
        left: 3,
        removalsDue: 2,
        askedRemovalsDue: 0,
        nextExpiryMs: NOW + 3,
      },
      {
        source: 'more',
        target,
        files: 1,
        bytes: 5,
        failed: 0,
        sending: 0,
        refused: 0,
        left: 0,
        removalsDue: 0,
        askedRemovalsDue: 0,
        nextExpiryMs: null,
      },
    ]);
    expect(openStore().overview.tallies(NOW)).toEqual([]);
  });

  test('what the platform says of the files of a source', () => {
    const { store, target } = begin();
    const sending = (name: string) => ({
      ...{ target, key: name as FileKey },
      ...{ remoteId: `file_${name}`, sentAtMs: NOW },
    });
    for (const name of ['waits', 'stored', 'searchable', 'unsearchable', 'overdue']) {
      const sentAs = { expiresAtMs: null, renewAtMs: null, askAtMs: NOW, isMarkDue: false, isMarked: true };
      const id = addSending(store, target, 'docs', name);
      store.recordSynced(id, attempt(), SHA, { ...sentAs, remoteId: `file_${name}` }, NOW);
    }
    for (const verdict of ['stored', 'searchable'] as const)
      store.remote.recordVerdict(sending(verdict), { verdict, reason: null }, NOW);
    const unsearchable = { verdict: 'unsearchable', reason: 'empty' } as const;
    store.remote.recordVerdict(sending('unsearchable'), unsearchable, NOW);
    store.remote.askAgain(sending('overdue'), { askAtMs: NOW + 1, trouble: 'a day' }, NOW);
    expect(store.overview.tallies(NOW)).toMatchObject([
      {
        ...{ files: 2, bytes: 10, stored: 1, searchable: 1, unsearchable: 1, failed: 0 },
        ...{ unconfirmed: 2, unconfirmedBytes: 10 },
      },
    ]);
    expect(store.countUnconfirmed(target)).toBe(2);
    expect(store.overdueConfirmations(target, 9)).toMatchObject([
      { source: 'docs', path: 'overdue', key: 'overdue', failure: 'a day' },
    ]);
    expect(store.overview.failures(new Map([['docs', target]]), 9, NOW)).toMatchObject([
      { path: 'overdue', kind: 'problem', reason: 'a day', retry: 'ask', retryAtMs: NOW + 1 },
      { path: 'unsearchable', kind: 'unsearchable', reason: 'empty', retry: 'change', retryAtMs: null },
    ]);
    expect(store.notices.failingFiles(new Map([['docs', target]]))).toMatchObject([{ count: 2 }]);
  });

  test('failures, with the reason, in path order', () => {
    const { store } = planted();
    store.problems.note({ source: 'docs', path: 'g', key: null, kind: 'problem', reason: UNREADABLE }, 1);
    store.problems.note({ source: 'docs', path: 'h', key: 'h', kind: 'refuse', reason: TOO_LARGE }, 1);
    const passed = { retry: 'pass', retryAtMs: null };
    const changed = { retry: 'change', retryAtMs: null };
    const all = [
      { source: 'docs', path: 'failed', key: 'failed', kind: 'failed', reason: 'why', ...passed },
      { source: 'docs', path: 'g', key: null, kind: 'problem', reason: UNREADABLE, ...passed },
      { source: 'docs', path: 'h', key: 'h', kind: 'refuse', reason: TOO_LARGE, ...changed },
      { source: 'docs', path: 'refused', key: 'refused', kind: 'refused', reason: 'no', ...changed },
      {
        ...{ retry: 'sending', retryAtMs: null },
        source: 'docs',
        path: 'sending',
        key: 'sending',
        kind: 'sending',
        reason: 'being sent, or was when botsync ended',
      },
    ];
    expect(
      store.overview.failures(
        new Map([
          ['docs', 1],
          ['more', 1],
        ]),
        10,
        NOW,
      ),
    ).toEqual(all);
    expect(
      store.overview.failures(
        new Map([
          ['docs', 1],
          ['more', 1],
        ]),
        2,
        NOW,
      ),
    ).toEqual(all.slice(0, 2));
  });

  test('a file is told of once, and why a source is halted is no matter of a file', () => {
    const { store, target } = planted();
    for (const path of ['failed', 'refused', 'sending', 'synced', '.'])
      store.problems.note({ source: 'docs', path, key: path, kind: 'pending', reason: WAITING }, 1);
    expect(store.overview.tallies(NOW)[0]).toMatchObject({ files: 1, failed: 0, sending: 0, refused: 0 });
    expect(store.overview.problems().get('docs')).toEqual({ refuse: 0, problem: 0, pending: 4 });
    const told = store.overview.failures(new Map([['docs', target]]), 10, NOW);
    expect(told.map(({ path, kind }) => `${path} ${kind}`)).toEqual(
      ['failed', 'refused', 'sending', 'synced'].map((path) => `${path} pending`),
    );
  });

  test('what brings another attempt', () => {
    const { store, target } = begin();
    const failure = { state: 'failed', reason: 'why', upserted: true } as const;
    const fail = (name: string, expiresAtMs: number | null, renewAtMs: number | null): void => {
      const id = addSynced(store, target, 'docs', name, { expiresAtMs });
      store.setRenewal(id, renewAtMs);
      store.recordFailure(id, attempt(), failure, NOW);
    };
    fail('new', null, null);
    fail('renewed', NOW + 9, NOW - 1);
    fail('to-renew-later', NOW + 9, NOW + 1);
    fail('expired', NOW - 1, NOW - 9);
    const tried = addSynced(store, target, 'docs', 'tried-again');
    store.recordFailure(tried, attempt(), failure, NOW);
    store.beginSending(tried, 'docs', 'tried-again' as RelativePath, attempt(), NOW).catch(() => undefined);
    store.remote.recordDifference(addSynced(store, target, 'docs', 'other'), 'content');
    store.remote.recordDifference(addSynced(store, target, 'docs', 'overwritten'), 'replaced');
    const told = store.overview.failures(new Map([['docs', target]]), 10, NOW);
    expect(told.map(({ path, kind, retry }) => [path, kind, retry])).toEqual([
      ['expired', 'failed', 'pass'],
      ['new', 'failed', 'pass'],
      ['other', 'failed', 'pass'],
      ['overwritten', 'failed', 'change'],
      ['renewed', 'failed', 'renewal'],
      ['to-renew-later', 'failed', 'pass'],
      ['tried-again', 'failed', 'sending'],
    ]);
    expect(store.overview.tallies(NOW)).toMatchObject([{ failed: 7, sending: 0 }]);
  });

  test('what was done since a moment', () => {
    const { store, target } = begin();
    const sent = (name: string, atMs: number): RowId => {
      const id = addSending(store, target, 'docs', name);
      const sentAs = { expiresAtMs: null, renewAtMs: null, askAtMs: null, isMarkDue: false, isMarked: true };
      store.recordSynced(id, attempt(), SHA, { ...sentAs, remoteId: null }, atMs);
      return id;
    };
    const nothing = { sent: 0, sentBytes: 0, updated: 0, removed: 0, failed: 0, lastMs: null };
    expect(store.overview.since(NOW)).toEqual(nothing);
    sent('before', NOW);
    const changed = sent('changed', NOW);
    expect(store.overview.since(NOW)).toEqual(nothing);
    sent('after', NOW + 1);
    expect(store.overview.since(NOW)).toEqual({ ...nothing, sent: 1, sentBytes: 5, lastMs: NOW + 1 });
    const changedAs = {
      settingsDigest: 's',
      expiresAtMs: null,
      renewAtMs: null,
      verdict: null,
      askAtMs: null,
    };
    store.remote.recordChanged(changed, { ...changedAs, isMarked: true }, NOW + 2);
    const failed = addSending(store, target, 'docs', 'failed');
    store.recordFailure(failed, attempt(), { state: 'failed', reason: 'why', upserted: true }, NOW + 3);
    expect(store.overview.since(NOW)).toMatchObject({ sent: 1, updated: 1, failed: 1, lastMs: NOW + 3 });
    store.removals.note('docs', NOW + 4);
    expect(store.overview.since(NOW)).toMatchObject({ removed: 1, lastMs: NOW + 4 });
    expect(store.overview.since(NOW + 4)).toEqual(nothing);
  });

  test('what was about to be sent, and was not, is nothing that was done', async () => {
    const { store, target } = begin();
    const id = addSending(store, target, 'docs', 'a');
    const sentAs = { expiresAtMs: null, renewAtMs: null, askAtMs: null, isMarkDue: false, isMarked: true };
    store.recordSynced(id, attempt(), SHA, { ...sentAs, remoteId: null }, NOW);
    await store.beginSending(id, 'docs', 'a' as RelativePath, attempt(), NOW + 5);
    store.takeBack(id, 'synced');
    expect(store.overview.since(NOW)).toMatchObject({ sent: 0, updated: 0, lastMs: null });
  });

  test('a removal that failed counts as failed, until its file is left out or nothing is to be removed', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    const sources = new Map([['docs', target]]);
    const told = (): unknown[] => [
      store.overview.tallies(NOW).map(({ failed, left }) => ({ failed, left })),
      store.overview.failures(sources, 9, NOW).map(({ path, kind, reason }) => ({ path, kind, reason })),
      store.notices.failingFiles(sources).length,
      store.countFailedRemovals(target, 'docs'),
      store.sourcesWithRemovalsDue(NOW).length,
    ];
    store.setAbsence(id, 'removed', NOW);
    store.removals.beginRemoving(id, NOW).catch(() => undefined);
    expect(told()).toEqual([[{ failed: 0, left: 1 }], [], 0, 0, 1]);
    store.removals.recordFailure(id, 'why', NOW);
    expect(told()).toEqual([
      [{ failed: 1, left: 0 }],
      [{ path: 'a', kind: 'failed', reason: { kind: 'not-removed', message: 'why' } }],
      1,
      1,
      0,
    ]);
    expect(store.removalsDue(target, 'docs', '', NOW, false)).toEqual([]);
    expect(store.removalsDue(target, 'docs', '', NOW, true)).toHaveLength(1);
    store.setAbsence(id, 'kept', NOW);
    expect(told()).toEqual([[{ failed: 0, left: 1 }], [], 0, 0, 0]);
    store.setAbsence(id, 'removed', NOW);
    store.removals.recordFailure(id, null, NOW);
    expect(told()).toEqual([[{ failed: 0, left: 1 }], [], 0, 0, 1]);
  });

  test('removals carried out since a moment, by source; old ones are dropped', () => {
    const { store, target } = begin();
    for (const [name, atMs] of [
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ] as const) {
      store.removals.recordRemoved(addSynced(store, target, 'docs', name), 'docs', NOW, atMs);
    }
    store.removals.recordRemoved(addSynced(store, target, 'more', 'd'), 'more', NOW, 30);
    expect([10, 11, 30, 31].map((since) => store.countRemovals('docs', since))).toEqual([3, 2, 1, 0]);
    store.removals.dropExpired(0, 20);
    expect(store.countRemovals('docs', 0)).toBe(2);
    expect(store.countRemovals('more', 0)).toBe(1);
  });
});
