import { expect, test } from 'vitest';
import type { WishRow } from '../../../src/cluster/shared-ledger.ts';
import { carryOutWishes } from '../../../src/run/cluster/carry-out-wishes.ts';
import type { OwnUnit } from '../../../src/run/cluster/own-units.ts';

/** Units that a host holds, and what becomes of wishes. */
function createHost(held: ReadonlyMap<number, 'at work' | 'ending'>, taken = true) {
  const told: string[] = [];
  const at = { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' };
  const unitOf = (id: number, name: string): OwnUnit => ({ id, name, target: 1, sources: [], at });
  const units = [unitOf(1, 'docs'), unitOf(2, 'branch'), unitOf(9, 'news')];
  const input = {
    membership: {
      takeWish: (id: number) => {
        told.push(`taken ${id}`);
        return Promise.resolve(taken);
      },
    },
    declared: { find: (id: number) => units.find((unit) => unit.id === id) },
    held: {
      get: (id: number) => {
        const state = held.get(id);
        const release = (): number => told.push(`released ${id}`);
        return state === undefined
          ? undefined
          : {
              grant: { unit: id, epoch: 3, instance: 'i', seq: 0, isInDoubt: false },
              isEnding: state === 'ending',
              release,
            };
      },
    },
    log: { error: (message: string) => told.push(message) },
    isAtWork: () => true,
    wished: ({ name }: OwnUnit, { kind }: WishRow) => told.push(`${kind} ${name}`),
  };
  return { told, carryOut: (wishes: readonly WishRow[]) => carryOutWishes(wishes, input) };
}

const wish = (
  id: number,
  unit: number,
  kind: string,
  body: unknown = { source: 'docs', halt: '1a' },
): WishRow => ({
  ...{ id, unit, kind, body },
});

test('a wish is carried out by who holds the unit, and took the wish off the list; who was not asked lets go of nothing', async () => {
  const wishes = [
    wish(1, 1, 'approve'),
    wish(2, 2, 'rescan'),
    wish(3, 9, 'release', { epoch: 3 }),
    wish(6, 9, 'release', { epoch: 2 }),
    wish(4, 5, 'approve'),
  ];
  const held = new Map([
    [2, 'at work' as const],
    [9, 'at work' as const],
  ]);
  const host = createHost(held);
  await host.carryOut(wishes);
  expect(host.told).toEqual(['taken 2', 'rescan branch', 'taken 3', 'released 9', 'taken 6']);
  const late = createHost(held, false);
  await late.carryOut(wishes);
  expect(late.told).toEqual(['taken 2', 'taken 3', 'taken 6']);
});

test('a wish that makes no sense is taken off the list by who holds the unit, which says so, and nothing comes of it', async () => {
  const nonsense = [
    ...[null, 5, 'docs', [], {}, { source: null }, { source: 5 }, { source: 'docs' }].map((body) =>
      wish(1, 1, 'approve', body),
    ),
    ...[{}, { source: 'docs', path: 5 }].map((body) => wish(1, 1, 'rescan', body)),
    ...[{}, { source: 'docs' }, { source: 'docs', digest: '1a', glob: 5 }].map((body) =>
      wish(1, 1, 'prune', body),
    ),
    ...[wish(1, 1, 'dance'), wish(1, 2, '')],
    ...[wish(1, 1, 'release', null), wish(1, 1, 'release', {})],
  ];
  const held = new Map([
    [1, 'at work' as const],
    [2, 'at work' as const],
    [9, 'at work' as const],
  ]);
  for (const one of nonsense) {
    const host = createHost(held);
    await host.carryOut([one]);
    const name = { 1: 'docs', 2: 'branch', 9: 'news' }[one.unit] ?? '';
    const said = `what is wished of ${name} in the ledger cannot be read, and was deleted`;
    expect(host.told, JSON.stringify(one)).toEqual(['taken 1', said]);
    const late = createHost(held, false);
    await late.carryOut([one]);
    expect(late.told, 'another process was quicker').toEqual(['taken 1']);
    const other = createHost(new Map());
    await other.carryOut([one]);
    expect(other.told, 'it is for who holds the unit').toEqual([]);
  }
  const host = createHost(held);
  await host.carryOut([
    ...[wish(1, 1, 'rescan'), wish(2, 1, 'rescan', { source: 'docs', path: 'a.md' })],
    ...[wish(3, 1, 'rescan', { source: 'docs', path: null }), wish(4, 1, 'release', { epoch: 3 })],
  ]);
  await host.carryOut([wish(5, 1, 'prune', { source: 'docs', digest: '1a', glob: null })]);
  const carriedOut = ['rescan docs', 'rescan docs', 'rescan docs', 'released 1', 'prune docs'];
  expect(host.told.filter((one) => !one.startsWith('taken'))).toEqual(carriedOut);
});
