import { expect, test } from 'vitest';
import type { FileRecord } from '../../src/domain/record.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import {
  addSending,
  attempt,
  connect,
  FOREVER,
  NOW,
  openStore,
  SHA,
  TARGET,
  temporaryDirectory,
} from './fixture.ts';

/** Puts files in that are to be renewed: `0`, `1`, … at the moments 0, 1, … after now. */
function addRenewals(store: StateStore, target: number, source: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const id = addSending(store, target, source, `${source}/${i}`);
    const lifetime = { ...FOREVER, expiresAtMs: NOW + 10_000, renewAtMs: NOW + i };
    store.recordSynced(id, attempt(), SHA, lifetime, NOW);
  }
}

test('renewals that are due are those of one source at one target, page by page', () => {
  const store = openStore();
  const before = store.targetId({ ...TARGET, botId: 'before' });
  const now = store.targetId(TARGET);
  addRenewals(store, before, 'docs', 1200);
  addRenewals(store, now, 'docs', 1200);
  addRenewals(store, now, 'more', 5);
  const due: FileRecord[] = [];
  let pages = 0;
  const pageAfter = (last: FileRecord | null) => store.renewalsDue(now, 'docs', NOW + 1099, 0, last);
  for (let page = pageAfter(null); page.length > 0; page = pageAfter(page.at(-1) ?? null)) {
    due.push(...page);
    pages += 1;
  }
  expect(due.map(({ path }) => path)).toEqual(Array.from({ length: 1100 }, (_, i) => `docs/${i}`));
  expect(pages).toBe(2);
  expect(store.renewalsDue(before, 'more', NOW + 5000, 0, null)).toEqual([]);
  expect(store.countOverdueRenewals(now, 'more', NOW + 3)).toBe(4);
});

test('the index of renewals leads to one source at one target: rows of another bot cost nothing', () => {
  const file = `${temporaryDirectory()}/state.db`;
  openStore(file).close();
  const columns = connect(file).prepare('SELECT name FROM pragma_index_info(?)').all('file_renewal');
  expect(columns).toEqual([{ name: 'target' }, { name: 'source' }, { name: 'renew_at' }]);
});
