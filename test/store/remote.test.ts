import { describe, expect, test } from 'vitest';
import { StateFileError, type SqlValue } from '../../src/store/database.ts';
import { FileReader, type RowId } from '../../src/store/file-reader.ts';
import { openReader } from '../../src/store/open-reader.ts';
import type { StateReader } from '../../src/store/state-reader.ts';
import type { SentAs, StateStore } from '../../src/store/state-store.ts';
import { resolveSettings, sentSettingsOf } from '../../src/domain/settings.ts';
import {
  sending,
  addSending,
  attempt,
  begin,
  closeAtEnd,
  connect,
  FOREVER,
  NOW,
  openStore,
  path,
  row,
  SHA,
  TARGET,
} from './fixture.ts';

/** Puts a file in that was sent, and of which the platform is to be asked. */
function addSent(store: StateStore, target: number, key: string, some: Partial<SentAs> = {}): RowId {
  const id = addSending(store, target, 'docs', key);
  const sentAs = { ...FOREVER, remoteId: `id of ${key}`, askAtMs: NOW + 1000, ...some };
  store.recordSynced(id, attempt(), SHA, sentAs, NOW);
  return id;
}

const SENT = {
  ...{
    sizeBytes: 5,
    remoteId: 'id of a',
    verdict: null,
    sentAtMs: NOW,
    askAtMs: NOW + 1000,
    askedAtMs: null,
  },
  ...{ losses: 0, isMarkDue: false, isMarked: false, changing: null, differs: null },
};

/** What a record says of the file on the platform. */
function platformPart(store: StateStore, id: RowId): unknown {
  const record = store.find(id);
  if (record === null) return null;
  const { sizeBytes, remoteId, verdict, sentAtMs, askAtMs, askedAtMs, losses, isMarkDue, isMarked } = record;
  const { changing, differs } = record;
  const moments = { sentAtMs, askAtMs, askedAtMs };
  return { sizeBytes, remoteId, verdict, ...moments, losses, isMarkDue, isMarked, changing, differs };
}

describe('what is known of a file', () => {
  test('begins with its sending, and is found by target and key', () => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a', { isMarkDue: true });
    expect(platformPart(store, id)).toEqual({ ...SENT, isMarkDue: true });
    expect(platformPart(store, row(target, 'b'))).toBeNull();
    expect(platformPart(store, row(target + 1, 'a'))).toBeNull();
  });

  test('a question that is put off', () => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a');
    store.remote.askAgain(sending(id, 'id of a'), { askAtMs: NOW + 9000, trouble: null }, NOW + 2000);
    expect(platformPart(store, id)).toEqual({ ...SENT, askAtMs: NOW + 9000, askedAtMs: NOW + 2000 });
  });

  test('a verdict ends the questions, and says why a file is not searchable', () => {
    const { store, target } = begin();
    const good = addSent(store, target, 'a');
    const bad = addSent(store, target, 'b');
    store.remote.recordVerdict(sending(good, 'id of a'), { verdict: 'searchable', reason: null }, NOW + 2000);
    store.remote.recordVerdict(
      sending(bad, 'id of b'),
      { verdict: 'unsearchable', reason: 'no text' },
      NOW + 2000,
    );
    const ended = { ...SENT, askAtMs: null, askedAtMs: NOW + 2000 };
    expect(platformPart(store, good)).toEqual({ ...ended, verdict: 'searchable' });
    expect(platformPart(store, bad)).toEqual({ ...ended, remoteId: 'id of b', verdict: 'unsearchable' });
    expect(store.askTimes(target, 1)).toEqual([]);
    expect([store.find(good)?.failure, store.find(bad)?.failure]).toEqual([null, 'no text']);
  });

  test('a loss counts for as long as the same content is lost', () => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a');
    store.remote.recordLoss(
      sending(id, 'id of a'),
      { state: 'failed', reason: 'gone', resendAtMs: null },
      NOW + 2000,
    );
    expect(platformPart(store, id)).toMatchObject({ losses: 1, askAtMs: null, verdict: null });
    expect(store.find(id)).toMatchObject({ state: 'failed', failure: 'gone' });
    addSent(store, target, 'a');
    store.remote.recordLoss(
      sending(id, 'id of a'),
      { state: 'refused', reason: 'quota', resendAtMs: null },
      NOW + 3000,
    );
    expect(store.find(id)?.losses).toBe(2);
    expect(store.find(id)).toMatchObject({ state: 'refused', failure: 'quota' });
    store.recordSynced(id, attempt(), Buffer.alloc(32, 8), FOREVER, NOW);
    expect(store.find(id)?.losses).toBe(0);
  });

  test('a mark that was set, and what the platform has otherwise', () => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a', { isMarkDue: true });
    store.remote.recordMarked(sending(id, 'id of a'), true);
    store.remote.recordDifference(id, 'content');
    expect(platformPart(store, id)).toEqual({ ...SENT, askAtMs: null, isMarked: true, differs: 'content' });
    store.remote.recordDifference(id, null);
    expect(platformPart(store, id)).toEqual({ ...SENT, askAtMs: null, isMarked: true });
  });

  test('an answer about what was sent before changes nothing of what was sent since', () => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a', { remoteId: 'new', isMarkDue: true });
    const { remote } = store;
    const before = platformPart(store, id);
    remote.askAgain(sending(id, 'old'), { askAtMs: NOW + 9000, trouble: null }, NOW + 2000);
    remote.recordVerdict(sending(id, 'old'), { verdict: 'stored', reason: null }, NOW + 2000);
    remote.recordLoss(sending(id, 'old'), { state: 'failed', reason: 'gone', resendAtMs: null }, NOW + 2000);
    remote.recordMarked(sending(id, 'old'), true);
    expect(platformPart(store, id)).toEqual(before);
    // Nor while it is being sent again, under whatever id.
    addSending(store, target, 'docs', 'a');
    remote.askAgain(sending(id, 'new'), { askAtMs: NOW + 9000, trouble: null }, NOW + 2000);
    remote.recordVerdict(sending(id, 'new'), { verdict: 'stored', reason: null }, NOW + 2000);
    remote.recordLoss(sending(id, 'new'), { state: 'failed', reason: 'gone', resendAtMs: null }, NOW + 2000);
    expect(platformPart(store, id)).toEqual(before);
    expect(store.find(id)?.state).toBe('sending');
  });

  test('nothing of it is left once the file is sent again', () => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a', { isMarkDue: true });
    store.remote.recordVerdict(sending(id, 'id of a'), { verdict: 'unsearchable', reason: 'no' }, NOW + 2000);
    store.remote.recordDifference(id, 'facts');
    addSent(store, target, 'a');
    expect(platformPart(store, id)).toEqual(SENT);
    expect(store.find(id)?.failure).toBeNull();
  });
});

describe('what is to be asked', () => {
  test('is due by its moment, the longest due first, of one target, and no more than wanted', () => {
    const { store, target } = begin();
    const other = store.targetId({ ...TARGET, botId: 'other' });
    for (const [key, afterMs] of [
      ['c', 3],
      ['a', 1],
      ['d', 4],
      ['b', 2],
    ] as const)
      addSent(store, target, key, { askAtMs: NOW + afterMs });
    addSent(store, other, 'x', { askAtMs: NOW });
    const keysDue = (untilMs: number, limit: number) =>
      store.confirmationsDue(target, untilMs, limit).map(({ key }) => key);
    expect(keysDue(NOW + 3, 10)).toEqual(['a', 'b', 'c']);
    expect(keysDue(NOW + 9, 2)).toEqual(['a', 'b']);
    expect(keysDue(NOW, 10)).toEqual([]);
    expect(store.askTimes(target, 1)).toEqual([NOW + 1]);
    expect(store.askTimes(other, 1)).toEqual([NOW]);
    expect(store.askTimes(other + 1, 1)).toEqual([]);
  });

  test('says what was sent', () => {
    const { store, target } = begin();
    addSent(store, target, 'a', { isMarkDue: true });
    expect(store.confirmationsDue(target, NOW + 1000, 10)).toMatchObject([
      {
        ...{ key: 'a', source: 'docs', path: path('a'), remoteId: 'id of a', sizeBytes: 5 },
        ...{
          settingsDigest: 'settings',
          sha256: SHA,
          sentAtMs: NOW,
          losses: 0,
          isMarkDue: true,
          isMarked: false,
        },
        verdict: null,
      },
    ]);
  });

  test.each<[string, (store: StateStore, id: RowId) => void]>([
    ['is sent again', (store, { target, key }) => addSending(store, target, 'docs', key)],
    [
      'failed since',
      (store, id) => {
        store.recordFailure(id, attempt(), { state: 'failed', reason: 'x', upserted: true }, NOW);
      },
    ],
    ['is removed', (store, id) => void store.removals.beginRemoving(id, NOW).catch(() => undefined)],
    [
      'came back without an id',
      (store, id) => {
        store.recordSynced(id, attempt(), SHA, { ...FOREVER, askAtMs: NOW }, NOW);
      },
    ],
  ])('of a file that %s nothing is asked, and no moment is named for it', (_, change) => {
    const { store, target } = begin();
    const id = addSent(store, target, 'a');
    change(store, id);
    expect(store.confirmationsDue(target, NOW + 1e9, 10)).toEqual([]);
    expect(store.askTimes(target, 1)).toEqual([]);
  });

  test('files that were lost are found without reading those that wait to be asked about', () => {
    const { store, target, file } = begin();
    store.close();
    const database = connect(file);
    const plans: string[] = [];
    class Explaining extends FileReader {
      protected override all(sql: string, ...values: SqlValue[]): [] {
        const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
        plans.push((steps as unknown as { detail: string }[]).map(({ detail }) => detail).join('; '));
        return [];
      }
    }
    new Explaining(database).resendsDue(target, NOW, 10);
    expect(plans).toEqual(['SEARCH file USING COVERING INDEX file_resend (target=? AND ask_at<?)']);
  });
});

describe('beside files', () => {
  const settings = resolveSettings([{ index: true, tags: { a: 'b' } }], 'text/plain');

  test('what was told under a digest is remembered once, and survives', () => {
    const { store, file } = begin();
    let asked = 0;
    const told = () => {
      asked += 1;
      return sentSettingsOf(settings);
    };
    store.remote.rememberSettings('digest', told);
    store.remote.rememberSettings('digest', told);
    expect(asked).toBe(1);
    expect(store.remote.toldSettings('digest')).toEqual(sentSettingsOf(settings));
    expect(store.remote.toldSettings('other')).toBeNull();
    store.close();
    const again = openStore(file);
    again.remote.rememberSettings('digest', told);
    expect(again.remote.toldSettings('digest')).toEqual(sentSettingsOf(settings));
  });

  test('an operation that is not served, of one target, until it is', () => {
    const { store, target, file } = begin();
    const other = store.targetId({ ...TARGET, botId: 'other' });
    store.remote.noteUnserved(target, 'list', { reason: '404', askedAtMs: NOW, isByToken: false });
    store.remote.noteUnserved(target, 'list', { reason: '405', askedAtMs: NOW + 1, isByToken: false });
    expect(store.remote.unserved(target, 'list')).toEqual({
      reason: '405',
      askedAtMs: NOW + 1,
      isByToken: false,
    });
    expect(store.remote.unserved(target, 'get')).toBeNull();
    expect(store.remote.unserved(other, 'list')).toBeNull();
    store.close();
    const again = openStore(file);
    expect(again.remote.unserved(target, 'list')).toEqual({
      reason: '405',
      askedAtMs: NOW + 1,
      isByToken: false,
    });
    again.remote.noteServed(target, 'list');
    again.remote.noteServed(target, 'get');
    expect(again.remote.unserved(target, 'list')).toBeNull();
  });

  test('the last verification', () => {
    const { store } = begin();
    expect(store.remote.verification()).toBeNull();
    store.remote.saveVerification(NOW, '{"missing":1}');
    store.remote.saveVerification(NOW + 1, '{"missing":2}');
    expect(store.remote.verification()).toEqual({ finishedAtMs: NOW + 1, summary: '{"missing":2}' });
  });
});

describe('a row that makes no sense is damage:', () => {
  type Question = (state: StateReader, target: number) => unknown;
  const find: Question = (state, target) => state.find(row(target, 'a'));
  const due: Question = (state, target) => state.confirmationsDue(target, NOW + 1e9, 10);
  const unserved: Question = ({ remote }, target) => remote.unserved(target, 'list');
  const told: Question = ({ remote }) => remote.toldSettings('digest');
  const verification: Question = ({ remote }) => remote.verification();
  // STRICT keeps types: what a damaged page holds is put in with the checks of tables off.
  test.each<[string, Question, string]>([
    ['a moment beyond all dates', find, 'UPDATE file SET asked_at = 9e15'],
    ['another moment beyond all dates', find, 'UPDATE file SET sent_at = -9e15'],
    ['fewer losses than none', find, 'UPDATE file SET losses = -1'],
    ['a verdict that is none', find, "UPDATE file SET verdict = 'lost'"],
    ['a difference that is none', find, "UPDATE file SET differs = 'all'"],
    ['what is due has a negative size', due, 'UPDATE file SET size_bytes = -1'],
    ['what is due has fewer losses than none', due, 'UPDATE file SET losses = -1'],
    ['what is due has a verdict that is none', due, "UPDATE file SET verdict = 'lost'"],
    ['an operation asked for beyond all dates', unserved, 'UPDATE unserved_operation SET asked_at = 9e15'],
    ['settings that are no JSON', told, "UPDATE told_settings SET told = '{'"],
    ['settings that are none', told, 'UPDATE told_settings SET told = \'{"index":1}\''],
    ['a summary that is no JSON', verification, "UPDATE verification SET summary = 'x'"],
    ['a verification beyond all dates', verification, 'UPDATE verification SET finished_at = 9e15'],
  ])('%s', (_, ask, sql) => {
    const { store, target, file } = begin();
    addSent(store, target, 'a');
    store.remote.noteUnserved(target, 'list', { reason: '404', askedAtMs: NOW, isByToken: false });
    store.remote.rememberSettings('digest', () => sentSettingsOf(resolveSettings([], 'text/plain')));
    store.remote.saveVerification(NOW, '{}');
    expect(() => ask(store, target)).not.toThrow();
    store.close();
    const damaging = connect(file);
    damaging.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`);
    damaging.close();
    const opened = openReader(file, false);
    if (opened.kind !== 'open') throw new Error(opened.kind);
    closeAtEnd(opened);
    expect(() => ask(opened.reader, target)).toThrow(StateFileError);
  });
});
