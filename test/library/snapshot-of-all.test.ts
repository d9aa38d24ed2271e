import { expect, test } from 'vitest';
import type { UnitRow } from '../../src/cluster/membership.ts';
import type { HostReport } from '../../src/library/cluster/host-reports.ts';
import {
  figuresOfAll,
  hostsToldOf,
  snapshotOfAll,
  type AllSeen,
  type SeenHost,
} from '../../src/library/cluster/snapshot-of-all.ts';
import type { Subject, Trouble } from '../../src/notify/trouble.ts';
import { EMPTY_SOURCE } from '../../src/sync/plan/overview.ts';
import { failing, LOST } from '../notify/fixture.ts';

const UNIT: UnitRow = {
  ...{ id: 1, target: 1, name: 'docs', sources: [{ name: 'docs', keyPrefix: '' }], pinned: null },
  ...{ epoch: 1, beat: 1, seq: 1, holder: 'process', holderHost: 'web1', settledAgeMs: null },
};

const PINNED: UnitRow = {
  ...{ ...UNIT, id: 2, name: 'branch@web2', sources: [{ name: 'branch', keyPrefix: 'b/' }] },
  ...{ pinned: 'web2', holder: null, holderHost: null },
};

function report(source: string, troubles: readonly Trouble[], unknown: readonly Subject[] = []): HostReport {
  return {
    sources: [{ ...EMPTY_SOURCE, name: source, files: 2, bytes: 20, nextExpiry: '2026-03-01T12:00:00.000Z' }],
    units: null,
    notifications: 9,
    snapshot: { sources: [source], troubles, unknown },
    sent: { files: 1, bytes: 10 },
    share: null,
  };
}

function host(name: string, said: HostReport | null, more: Partial<SeenHost> = {}): SeenHost {
  return { name, isAlive: true, isToldHere: true, report: said, ...more };
}

function seen(hosts: readonly SeenHost[], more: Partial<AllSeen> = {}): AllSeen {
  const notifications = { ...UNIT, id: 9, name: 'notifications (1)', sources: [] };
  return { units: [UNIT, PINNED, notifications], hosts, wanted: new Set([1]), ...more };
}

const UNKNOWN_OF = (source: string): Subject[] =>
  (['failing', 'halted', 'expiring'] as const).map((kind) => ({ kind, source }));

test('what hosts say is put together, and pinned sources are named with their hosts', () => {
  const all = seen([
    host('web1', report('docs', [failing(1, 'docs')])),
    host('web2', report('branch', [failing(2, 'branch'), { kind: 'credentials', reason: '401' }, LOST])),
  ]);
  expect(snapshotOfAll(all)).toEqual({
    sources: ['docs', 'branch@web2'],
    troubles: [
      failing(1, 'docs'),
      failing(2, 'branch@web2'),
      { kind: 'credentials', reason: 'web2: 401' },
      { kind: 'out-of-reach', from: ['web2'] },
    ],
    unknown: [],
  });
  expect(figuresOfAll(all)).toEqual({
    ...{ files: 4, bytes: 40, sentFiles: 2, sentBytes: 20 },
    nextExpiryMs: Date.parse('2026-03-01T12:00:00Z'),
  });
  expect(hostsToldOf(all)).toEqual(['web1', 'web2']);
});

test('what concerns all sources is known once one host knows it', () => {
  const unknown: Subject[] = [
    { kind: 'credentials', source: null },
    { kind: 'out-of-reach', source: null },
  ];
  const both = (of: readonly Subject[]): AllSeen =>
    seen([host('web1', report('docs', [], unknown)), host('web2', report('branch', [], of))]);
  expect(snapshotOfAll(both(unknown)).unknown).toEqual(unknown);
  expect(snapshotOfAll(both([])).unknown).toEqual([]);
});

test('while a unit moves its figures are those of the host that had it', () => {
  const all = seen([host('web1', report('more', [])), host('web3', report('docs', []))]);
  expect(figuresOfAll(all)).toMatchObject({ files: 2, bytes: 20 });
  expect(figuresOfAll(seen([host('web3', report('branch', []))]))).toMatchObject({ files: 0 });
});

test('only who has a source is believed about it', () => {
  const all = seen([
    host('web1', report('docs', [])),
    // It had it until just now.
    host('web2', report('docs', [failing(3, 'docs')])),
  ]);
  expect(snapshotOfAll(all).troubles).toEqual([]);
  expect(snapshotOfAll(all).unknown).toEqual(UNKNOWN_OF('branch@web2'));
});

test('of a silent host nothing is known but that its sources are not synced', () => {
  const all = seen([
    host('web1', report('docs', [failing(1, 'docs')]), { isAlive: false }),
    host('web2', report('branch', []), { isAlive: false }),
  ]);
  expect(snapshotOfAll(all)).toEqual({
    sources: ['docs', 'branch@web2'],
    troubles: [
      { kind: 'unsynced', source: 'docs', silent: 'web1' },
      { kind: 'unsynced', source: 'branch@web2', silent: 'web2' },
    ],
    unknown: expect.arrayContaining([...UNKNOWN_OF('docs'), ...UNKNOWN_OF('branch@web2')]) as Subject[],
  });
  // The platform has its files all the same.
  expect(figuresOfAll(all)).toMatchObject({ files: 4, sentFiles: 0 });
});

test('a unit that nobody holds is missed if a host could have it; a host that ended in order is not', () => {
  const free = { units: [{ ...UNIT, holder: null }, PINNED] };
  const others = [host('web3', report('more', []))];
  expect(snapshotOfAll(seen(others, free)).troubles).toEqual([
    { kind: 'unsynced', source: 'docs', silent: null },
  ]);
  const unwanted = snapshotOfAll(seen(others, { ...free, wanted: new Set() }));
  expect(unwanted.troubles).toEqual([]);
  expect(unwanted.unknown).toContainEqual({ kind: 'unsynced', source: 'docs' });
  expect(unwanted.unknown).toContainEqual({ kind: 'unsynced', source: 'branch@web2' });
});

test('who tells its people elsewhere is left out; who says nothing of itself is not', () => {
  const elsewhere = seen([host('web1', report('docs', [failing(1, 'docs'), LOST]), { isToldHere: false })]);
  expect(snapshotOfAll(elsewhere)).toMatchObject({ sources: ['branch@web2'], troubles: [] });
  expect(hostsToldOf(elsewhere)).toEqual([]);
  const silent = seen([host('web1', null)]);
  expect(snapshotOfAll(silent).sources).toEqual(['docs', 'branch@web2']);
  expect(snapshotOfAll(silent).unknown).toEqual(expect.arrayContaining(UNKNOWN_OF('docs')));
});

test('of a source that is in no configuration any more nothing is told', () => {
  // The bot was changed, or the source put together with others: the ledger keeps the unit of before.
  const former: UnitRow = { ...UNIT, id: 3, target: 2, holder: null };
  const moved = seen([host('web1', report('docs', []))], { units: [former, UNIT] });
  expect(snapshotOfAll(moved)).toEqual({ sources: ['docs'], troubles: [], unknown: [] });
  // While it moves from host to host as well.
  const free = seen([host('web1', report('more', []))], { units: [former, { ...UNIT, holder: null }] });
  expect(snapshotOfAll(free)).toMatchObject({
    sources: ['docs'],
    troubles: [{ kind: 'unsynced', source: 'docs' }],
  });

  const without = seen([host('web2', { ...report('other', []), units: [4] })], { units: [PINNED] });
  expect(snapshotOfAll(without)).toEqual({ sources: [], troubles: [], unknown: [] });
  // Its daemon is not there yet.
  const starting = seen([host('web2', { ...report('other', []), units: [PINNED.id] })], { units: [PINNED] });
  expect(snapshotOfAll(starting).sources).toEqual(['branch@web2']);
  const silent = seen([host('web2', { ...report('other', []), units: [] }, { isAlive: false })], {
    units: [PINNED],
  });
  expect(snapshotOfAll(silent).sources).toEqual(['branch@web2']);
});
