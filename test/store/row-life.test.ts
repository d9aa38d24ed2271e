import { describe, expect, test } from 'vitest';
import type { Fingerprint } from '../../src/domain/fingerprint.ts';
import {
  addSending,
  addSynced,
  attempt,
  begin,
  FOREVER,
  NOW,
  path,
  row,
  sending,
  SHA,
  TARGET,
} from './fixture.ts';

describe('the life of a row', () => {
  const fresh = {
    ...{ target: 1, sizeBytes: 5, remoteId: null, sentAtMs: null, askAtMs: null, askedAtMs: null, losses: 0 },
    ...{ isMarkDue: false, isMarked: false, changing: null },
    path: 'a',
    key: 'k',
    source: 'docs',
    state: 'sending',
    fingerprint: '5:1:1:1',
    trusted: true,
    settingsDigest: 'settings',
    expiresAtMs: null,
    renewAtMs: null,
    absence: null,
    verdict: null,
    differs: null,
    sha256: null,
    uploaded: false,
    failure: null,
    changedAtMs: NOW,
    absentSinceMs: null,
  };

  test('there is none', () => {
    const { store, target } = begin();
    expect(store.find(row(target, 'k'))).toBeNull();
  });

  test('about to be sent', async () => {
    const { store, target } = begin();
    await store.beginSending(row(target, 'k'), 'docs', path('a'), attempt(), NOW);
    expect(store.find(row(target, 'k'))).toEqual(fresh);
  });

  test('in sync: all that was sent', () => {
    const { store, target } = begin();
    const id = addSending(store, target, 'docs', 'a', 'k');
    const sent = attempt({
      fingerprint: '9:2:2:2' as Fingerprint,
      trusted: false,
      settingsDigest: 's2',
      sizeBytes: 9,
    });
    store.setAbsence(id, 'removed', NOW);
    store.recordSynced(id, sent, SHA, { ...FOREVER, expiresAtMs: NOW + 1 }, NOW + 2);
    expect(store.find(id)).toEqual({
      ...fresh,
      state: 'synced',
      fingerprint: '9:2:2:2',
      trusted: false,
      settingsDigest: 's2',
      sizeBytes: 9,
      sentAtMs: NOW + 2,
      expiresAtMs: NOW + 1,
      sha256: SHA,
      uploaded: true,
      changedAtMs: NOW + 2,
      absentSinceMs: NOW,
    });
    expect(store.overview.tallies(NOW)[0]).toMatchObject({ bytes: 9 });
  });

  test('sent again: what the platform holds is unknown, and who has the key may be another', async () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { key: 'k', expiresAtMs: NOW });
    store.setAbsence(id, 'removed', NOW);
    const before = store.find(id);
    await store.beginSending(id, 'more', path('b'), attempt({ settingsDigest: 'new' }), NOW + 5);
    const begun = { state: 'sending', path: 'b', source: 'more', absence: null, changedAtMs: NOW + 5 };
    expect(store.find(id)).toEqual({ ...before, ...begun });
    // Where no upsert was sent, what was on record is so again.
    store.takeBack(id, 'synced');
    expect(store.find(id)).toEqual({
      ...before,
      ...begun,
      state: 'synced',
      changedAtMs: before?.changedAtMs,
    });
  });

  test('failed: the size of what was there before stays on record, also after an attempt that was taken back', async () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    const tried = attempt({ fingerprint: '6:1:1:1' as Fingerprint, sizeBytes: 6 });
    await store.beginSending(id, 'docs', path('a'), tried, NOW);
    store.recordFailure(id, tried, { state: 'failed', reason: 'because', upserted: false }, NOW);
    await store.beginSending(id, 'docs', path('a'), tried, NOW);
    store.takeBack(id, 'failed');
    expect(store.find(id)?.fingerprint).toBe('6:1:1:1');
    expect(store.find(id)?.sizeBytes).toBe(5);
  });

  test.each(['failed', 'refused'] as const)('%s', (state) => {
    const { store, target } = begin();
    const id = addSending(store, target, 'docs', 'a', 'k');
    const tried = attempt({ fingerprint: '6:1:1:1' as Fingerprint, settingsDigest: 's2', trusted: false });
    store.recordFailure(id, tried, { state, reason: 'because', upserted: false }, NOW + 1);
    const expected = { ...fresh, state, fingerprint: '6:1:1:1', settingsDigest: 's2', trusted: false };
    expect(store.find(id)).toEqual({ ...expected, failure: 'because', changedAtMs: NOW + 1 });
    store.recordFailure(id, tried, { state, reason: 'again', upserted: true }, NOW + 2);
    expect(store.find(id)).toMatchObject({ failure: 'again', uploaded: true });
    store.recordFailure(id, tried, { state, reason: 'once more', upserted: false }, NOW + 2);
    expect(store.find(id)?.uploaded).toBe(true);
  });

  test('refused after an attempt that was broken off: the platform may have something of that', () => {
    const { store, target } = begin();
    addSending(store, target, 'docs', 'a', 'k');
    const id = addSending(store, target, 'docs', 'a', 'k');
    store.recordFailure(id, attempt(), { state: 'refused', reason: 'x', upserted: false }, NOW);
    expect(store.find(id)).toMatchObject({ state: 'refused', uploaded: true });
  });

  test('failed after it was in sync: the platform holds something else', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    store.recordFailure(id, attempt(), { state: 'failed', reason: 'x', upserted: false }, NOW);
    expect(store.find(id)).toMatchObject({ sha256: null, uploaded: true });
    store.recordSynced(id, attempt(), SHA, FOREVER, NOW);
    expect(store.find(id)).toMatchObject({ failure: null, state: 'synced' });
  });

  test('removed: about to be, then with its expiry, then gone', async () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { expiresAtMs: NOW });
    store.setAbsence(id, 'removed', NOW);
    await store.removals.beginRemoving(id, NOW + 1);
    expect(store.find(id)).toMatchObject({
      state: 'removing',
      expiresAtMs: null,
      renewAtMs: null,
      sha256: null,
      changedAtMs: NOW + 1,
    });
    store.removals.recordRemoved(id, 'docs', NOW + 100, NOW + 2);
    expect(store.find(id)).toMatchObject({ state: 'removing', expiresAtMs: NOW + 100, absence: 'removed' });
    store.removals.dropExpired(NOW + 99, 0);
    expect(store.find(id)).not.toBeNull();
    store.removals.dropExpired(NOW + 100, 0);
    expect(store.find(id)).toBeNull();
  });

  test('removed by deletion: about to be, with what tells it from another file, then gone', async () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { expiresAtMs: NOW });
    store.setAbsence(id, 'removed', NOW);
    for (const nowMs of [NOW + 1, NOW + 2]) {
      await store.removals.beginDeleting(id, nowMs);
      expect(store.find(id)).toMatchObject({
        state: 'removing',
        expiresAtMs: null,
        sha256: SHA,
        changedAtMs: nowMs,
      });
      store.removals.recordFailure(id, 'because', nowMs);
    }
    expect(store.countRemovals('docs', NOW)).toBe(0);
    store.removals.recordDeleted(id, 'docs', NOW + 3);
    expect(store.find(id)).toBeNull();
    expect(store.countRemovals('docs', NOW)).toBe(1);
  });

  test.each(['beginDeleting', 'beginRemoving'] as const)(
    'a removal that was begun while it was not known whether the file was sent is due again after a crash: %s',
    async (begun) => {
      const { store, target } = begin();
      const id = addSending(store, target, 'docs', 'a');
      store.setAbsence(id, 'removed', NOW);
      await store.removals[begun](id, NOW + 1);
      expect(store.find(id)).toMatchObject({ state: 'removing', uploaded: true });
      expect(store.removalsDue(target, 'docs', '', NOW, true)).toHaveLength(1);
    },
  );

  test('an orphan takes the place of what was removed before it, and of no file that is here', async () => {
    const { store, target } = begin();
    const [removed, here] = [addSynced(store, target, 'docs', 'a'), addSynced(store, target, 'docs', 'b')];
    store.setAbsence(removed, 'removed', NOW);
    await store.removals.beginRemoving(removed, NOW);
    store.removals.recordRemoved(removed, 'docs', NOW + 100, NOW);
    const orphan = { source: 'docs', remoteId: 'file_2', sizeBytes: 5, sha256: SHA };
    store.removals.noteOrphan(removed, { ...orphan, path: path('a') }, NOW + 1);
    store.removals.noteOrphan(here, { ...orphan, path: path('b') }, NOW + 1);
    expect(store.find(removed)).toMatchObject({ state: 'synced', absence: 'orphan', sha256: SHA });
    expect(store.find(here)).toMatchObject({ state: 'synced', absence: null });
  });

  test.each(['sending', 'failed', 'a tombstone that was begun'])(
    'what the platform has of a file is not known when it is to be deleted after: %s',
    async (state) => {
      const { store, target } = begin();
      const id = addSynced(store, target, 'docs', 'a');
      store.recordSynced(id, attempt(), SHA, { ...FOREVER, remoteId: 'file_1' }, NOW);
      if (state === 'sending') await store.beginSending(id, 'docs', path('a'), attempt(), NOW);
      else if (state === 'failed')
        store.remote.recordLoss(
          sending(id, 'file_1'),
          { state: 'failed', reason: 'because', resendAtMs: null },
          NOW,
        );
      else await store.removals.beginRemoving(id, NOW);
      await store.removals.beginDeleting(id, NOW + 1);
      expect(store.find(id)).toMatchObject({ state: 'removing', sha256: null });
    },
  );

  test('whether it bears a mark is known from its sending or from later on', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    const isMarked = (): boolean | undefined => store.find(id)?.isMarked;
    expect(isMarked()).toBe(false);
    store.recordSynced(id, attempt(), SHA, { ...FOREVER, remoteId: 'file_1', isMarked: true }, NOW);
    expect(isMarked()).toBe(true);
    store.recordSynced(id, attempt(), SHA, { ...FOREVER, remoteId: 'file_1', isMarkDue: true }, NOW);
    expect(isMarked()).toBe(false);
    store.remote.recordMarked(sending(id, 'file_1'), true);
    expect(isMarked()).toBe(true);
  });

  test('only what is being removed is dropped when it has expired', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { expiresAtMs: NOW });
    store.removals.dropExpired(NOW + 1, 0);
    expect(store.find(id)).not.toBeNull();
  });

  test('touched, adopted, absent, forgotten', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    store.setAbsence(id, 'kept', NOW);
    expect(store.find(id)?.absence).toBe('kept');
    store.recordTouched(id, '5:8:8:8' as Fingerprint, false);
    expect(store.find(id)).toMatchObject({
      fingerprint: '5:8:8:8',
      trusted: false,
      absence: null,
      state: 'synced',
      sha256: SHA,
    });
    store.setAbsence(id, 'removed', NOW);
    store.adopt(id, 'more', path('b'));
    expect(store.find(id)).toMatchObject({ source: 'more', path: 'b', absence: null, state: 'synced' });
    store.setAbsence(id, 'removed', NOW);
    store.setAbsence(id, null, NOW);
    expect(store.find(id)?.absence).toBeNull();
    store.forget(id);
    expect(store.find(id)).toBeNull();
  });

  test('each method speaks of its row only', async () => {
    const { store, target } = begin();
    const other = store.targetId({ ...TARGET, botId: 'bot-2' });
    const otherHosts = [addSynced(store, target, 'docs', 'b'), addSynced(store, other, 'docs', 'a')];
    const before = otherHosts.map((id) => store.find(id));
    const id = addSending(store, target, 'docs', 'a');
    store.recordFailure(id, attempt(), { state: 'failed', reason: 'x', upserted: true }, NOW + 1);
    store.recordSynced(
      id,
      attempt({ sizeBytes: 1 }),
      Buffer.alloc(32),
      { ...FOREVER, expiresAtMs: NOW },
      NOW + 1,
    );
    store.recordTouched(id, '1:1:1:1' as Fingerprint, false);
    store.adopt(id, 'more', path('z'));
    store.setAbsence(id, 'removed', NOW);
    await store.removals.beginRemoving(id, NOW + 1);
    store.removals.recordRemoved(id, 'docs', NOW, NOW + 1);
    store.forget(id);
    expect(otherHosts.map((each) => store.find(each))).toEqual(before);
  });
});
