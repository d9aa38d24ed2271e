import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StateFileError } from '../../src/store/database.ts';
import { entryTables } from '../../src/store/ledger-rows.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { WorkingCopy, type LedgerPage, type Shipment } from '../../src/store/working-copy.ts';
import {
  addSending,
  addSynced,
  attempt,
  closeAtEnd,
  connect,
  FOREVER,
  NOW,
  path,
  row,
  SHA,
  TARGET,
  temporaryDirectory,
} from './fixture.ts';

/** What arrives at a ledger, kept as a ledger keeps it. */
class Arrived {
  readonly files = new Map<string, unknown>();
  readonly entries = new Map<string, unknown>();
  shipments = 0;

  ship = (shipment: Shipment): Promise<void> => {
    this.shipments += 1;
    for (const file of JSON.parse(shipment.files) as { target: number; key: string }[])
      this.files.set(JSON.stringify([file.target, file.key]), file);
    for (const key of JSON.parse(shipment.droppedFiles) as [number, string][])
      this.files.delete(JSON.stringify(key));
    for (const entry of JSON.parse(shipment.entries) as { tbl: string; key: unknown; body: unknown }[]) {
      const key = JSON.stringify([entry.tbl, entry.key]);
      if (entry.body === null) this.entries.delete(key);
      else this.entries.set(key, entry);
    }
    return Promise.resolve();
  };

  page(): LedgerPage {
    return {
      files: JSON.stringify([...this.files.values()]),
      entries: JSON.stringify([...this.entries.values()]),
    };
  }
}

const TARGETS = [{ id: 7, ...TARGET }];

function copyIn(file: string, page?: LedgerPage): WorkingCopy {
  const copy = new WorkingCopy(file);
  copy.loadTargets(TARGETS);
  if (page !== undefined) copy.load(page);
  return copy;
}

/** Every row of every table that travels. */
function rowsOf(file: string): Record<string, unknown[]> {
  const database = connect(file);
  const names = ['file', ...entryTables(database).map(({ name }) => name)];
  return Object.fromEntries(
    names.map((name) => [name, database.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all()]),
  );
}

function changeEverything(store: StateStore, target: number): void {
  const synced = addSynced(store, target, 'docs', 'a');
  addSynced(store, target, 'docs', 'dropped "quoted" \u{1F600}\n');
  store.forget(row(target, 'dropped "quoted" \u{1F600}\n'));
  addSending(store, target, 'docs', 'b/ü "x"\n');
  store.adopt(addSending(store, target, 'docs', 'moved'), 'other', path('there'));
  store.setAbsence(synced, 'removed', NOW);
  store.problems.note(
    { source: 'docs', path: 'p', key: null, kind: 'refuse', reason: { kind: 'backslash-in-key' } },
    1,
  );
  store.problems.note(
    { source: 'docs', path: 'q', key: null, kind: 'refuse', reason: { kind: 'backslash-in-key' } },
    1,
  );
  store.problems.dropBefore('docs', 1);
  store.removals.note('docs', NOW);
  store.removals.note('docs', NOW);
  store.saveSource('docs', { directory: '/d', identity: '1:2', halt: null });
  store.saveSource('docs', {
    directory: '/d',
    identity: '1:2',
    halt: { kind: 'missing', directory: '/d', fault: { kind: 'silent' } },
  });
  store.saveMounts('docs', ['m', 'n']);
  store.saveMounts('docs', ['n']);
  store.saveRereading('docs', { position: 5, atMs: NOW });
  store.savePlatformAhead(17);
  store.savePass(1, NOW, 0, '{}');
  store.savePass(2, NOW, 0, '{"a":1}');
  store.remote.beginAdoption(target, 'docs');
  store.remote.saveVerification(NOW, '{}');
}

describe('a working copy', () => {
  test('ships what was changed, so that another begins where it ended', async () => {
    const [one, other] = [join(temporaryDirectory(), 'a.db'), join(temporaryDirectory(), 'b.db')];
    const ledger = new Arrived();
    const store = copyIn(one).begin(ledger.ship);
    closeAtEnd(store);
    const target = store.targetId(TARGET);
    expect(target).toBe(7);
    changeEverything(store, target);
    await store.beginSending(row(target, 'last'), 'docs', path('last'), attempt(), NOW);

    const next = copyIn(other, ledger.page());
    closeAtEnd(next);
    const expected = rowsOf(one);
    expect(rowsOf(other)).toEqual(expected);
    expect(expected['file']).toHaveLength(4);
    expect(expected['removal']).toHaveLength(2);
    expect(expected['mount']).toHaveLength(1);
    expect(expected['source']).toMatchObject([
      { halt: '{"kind":"missing","directory":"/d","fault":{"kind":"silent"}}' },
    ]);
  });

  test('an intent counts once the ledger has it, and not before', async () => {
    let arrive: () => void = () => undefined;
    const store = copyIn(join(temporaryDirectory(), 'a.db')).begin(
      () => new Promise((resolve) => (arrive = resolve)),
    );
    closeAtEnd(store);
    let isDurable = false;
    const intent = store
      .beginSending(row(7, 'a'), 'docs', path('a'), attempt(), NOW)
      .then(() => (isDurable = true));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(isDurable).toBe(false);
    arrive();
    await intent;
  });

  test('what nobody waits for is shipped as well', async () => {
    const arrived = new Promise<Shipment>((resolve) => {
      const store = copyIn(join(temporaryDirectory(), 'a.db')).begin((shipment) => {
        resolve(shipment);
        return Promise.resolve();
      });
      closeAtEnd(store);
      store.removals.note('docs', NOW);
    });
    expect(JSON.parse((await arrived).entries)).toMatchObject([
      { tbl: 'removal', body: { source: 'docs', at: NOW } },
    ]);
  });

  test('an intent that the ledger does not take fails', async () => {
    const refused = new StateFileError('unwritable', 'not yours');
    const store = copyIn(join(temporaryDirectory(), 'a.db')).begin(() => Promise.reject(refused));
    closeAtEnd(store);
    await expect(store.beginSending(row(7, 'a'), 'docs', path('a'), attempt(), NOW)).rejects.toBe(refused);
  });

  test('many changes travel in several shipments, each row once', async () => {
    const ledger = new Arrived();
    const store = copyIn(join(temporaryDirectory(), 'a.db')).begin(ledger.ship);
    closeAtEnd(store);
    for (let i = 0; i < 4500; i += 1) addSynced(store, 7, 'docs', `f${i}`);
    await store.beginSending(row(7, 'last'), 'docs', path('last'), attempt(), NOW);
    expect(ledger.files.size).toBe(4501);
    expect(ledger.shipments).toBe(3);
  });

  test('files that were on their way are suspects: what was sent of them may still arrive', () => {
    const file = join(temporaryDirectory(), 'a.db');
    const ledger = new Arrived();
    const store = copyIn(join(temporaryDirectory(), 'b.db')).begin(ledger.ship);
    closeAtEnd(store);
    addSending(store, 7, 'docs', 'sending');
    addSynced(store, 7, 'docs', 'synced');
    addSynced(store, 7, 'docs', 'removing');
    addSynced(store, 7, 'docs', 'removed');
    return store.removals
      .beginRemoving(row(7, 'removing'), NOW)
      .then(() => store.removals.beginRemoving(row(7, 'removed'), NOW))
      .then(() => {
        store.removals.recordRemoved(row(7, 'removed'), 'docs', NOW + 5, NOW);
        store.recordSynced(row(7, 'synced'), attempt(), SHA, FOREVER, NOW);
        return store.beginSending(row(7, 'sending'), 'docs', path('sending'), attempt(), NOW);
      })
      .then(() => {
        const next = copyIn(file, ledger.page()).begin(ledger.ship);
        closeAtEnd(next);
        next.suspects.addUnfinished(NOW + 9);
        expect(next.suspectsDue(NOW + 8, 10)).toEqual([]);
        expect(next.suspectsDue(NOW + 9, 10).map(({ key }) => key)).toEqual(['removing', 'sending']);
        return next.settled();
      })
      .then(() => {
        expect(rowsOf(file)['suspect']).toMatchObject([
          { key: 'removing', again_at: NOW + 9 },
          { key: 'sending', again_at: NOW + 9 },
        ]);
      });
  });
});

test('its file is for this user alone', () => {
  const file = join(temporaryDirectory(), 'unit.db');
  const umask = process.umask(0);
  try {
    const copy = new WorkingCopy(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    copy.database.close();
  } finally {
    process.umask(umask);
  }
});
