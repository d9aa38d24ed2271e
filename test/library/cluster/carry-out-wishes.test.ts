import { expect, test } from 'vitest';
import type { WishRow } from '../../../src/cluster/membership.ts';
import { carryOutWishes } from '../../../src/library/cluster/carry-out-wishes.ts';
import type { OwnUnit } from '../../../src/library/cluster/own-units.ts';

const NOTIFICATIONS: OwnUnit = {
  ...{ id: 9, name: 'notifications (1)', target: 1, sources: [], isPinned: false },
  at: { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' },
};

/** Units that a host holds, and what becomes of wishes. */
function createHost(held: ReadonlyMap<number, 'at work' | 'ending'>, taken = true) {
  const told: string[] = [];
  const announced: (readonly WishRow[])[] = [];
  const source = { name: 'docs' } as OwnUnit['sources'][number];
  const units: OwnUnit[] = [
    NOTIFICATIONS,
    { ...NOTIFICATIONS, id: 1, name: 'docs', sources: [source] },
    { ...NOTIFICATIONS, id: 2, name: 'branch@web1', sources: [source], isPinned: true },
  ];
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
        return state === undefined ? undefined : { isEnding: state === 'ending', release };
      },
    },
    log: { error: (message: string) => told.push(message) },
    isAtWork: () => true,
    wished: ({ name }: OwnUnit, { kind }: WishRow) => told.push(`${kind} ${name}`),
    announce: (wishes: readonly WishRow[]) => announced.push(wishes),
  };
  return { told, announced, carryOut: (wishes: readonly WishRow[]) => carryOutWishes(wishes, input) };
}

const wish = (id: number, unit: number, kind: string, body: unknown = { source: 'docs' }): WishRow => ({
  ...{ id, unit, kind, body },
});

test('files to be announced are handed over together, and stay on the list until somebody took note of them', async () => {
  const wishes = [wish(1, 9, 'announce'), wish(2, 1, 'approve'), wish(3, 9, 'announce')];
  const holder = createHost(
    new Map([
      [9, 'at work'],
      [1, 'at work'],
    ]),
  );
  await holder.carryOut(wishes);
  expect(holder.announced).toEqual([[wishes[0], wishes[2]]]);
  expect(holder.told).toEqual(['taken 2', 'approve docs']);
  // Who does not hold the notifications any more announces nothing of it.
  for (const held of [new Map(), new Map([[9, 'ending' as const]])]) {
    const other = createHost(held);
    await other.carryOut(wishes);
    expect(other).toMatchObject({ announced: [[]], told: [] });
  }
});

test('a wish is carried out by who holds the unit, or has it alone, and took the wish off the list', async () => {
  const wishes = [
    wish(1, 1, 'approve'),
    wish(2, 2, 'rescan'),
    wish(3, 9, 'release'),
    wish(4, 5, 'approve'),
    wish(5, 1, 'announce'),
  ];
  const host = createHost(new Map([[9, 'at work']]));
  await host.carryOut(wishes);
  expect(host.told).toEqual(['taken 2', 'rescan branch@web1', 'taken 3', 'released 9']);
  const late = createHost(new Map([[9, 'at work']]), false);
  await late.carryOut(wishes);
  expect(late.told).toEqual(['taken 2', 'taken 3']);
});

test('a wish that makes no sense is taken off the list by who holds the unit, which says so, and nothing comes of it', async () => {
  const nonsense = [
    ...[null, 5, 'docs', [], {}, { source: null }, { source: 5 }].map((body) => wish(1, 1, 'approve', body)),
    ...[{}, { source: 'docs', path: 5 }].map((body) => wish(1, 1, 'rescan', body)),
    ...[wish(1, 1, 'dance'), wish(1, 1, 'announce'), wish(1, 2, '')],
    // There is nobody to approve anything of notifications.
    ...[wish(1, 9, 'approve'), wish(1, 9, 'rescan')],
  ];
  const held = new Map([
    [1, 'at work' as const],
    [9, 'at work' as const],
  ]);
  for (const one of nonsense) {
    const host = createHost(held);
    await host.carryOut([one]);
    const name = { 1: 'docs', 2: 'branch@web1', 9: 'notifications (1)' }[one.unit] ?? '';
    const said = `what is wished of ${name} in the ledger cannot be read, and was deleted`;
    expect(host.told, JSON.stringify(one)).toEqual(['taken 1', said]);
    const late = createHost(held, false);
    await late.carryOut([one]);
    expect(late.told, 'another process was quicker').toEqual(['taken 1']);
    const other = createHost(new Map());
    await other.carryOut(one.unit === 2 ? [] : [one]);
    expect(other.told, 'it is for who holds the unit').toEqual([]);
  }
  const host = createHost(held);
  await host.carryOut([
    ...[wish(1, 1, 'rescan'), wish(2, 1, 'rescan', { source: 'docs', path: 'a.md' })],
    ...[wish(3, 1, 'rescan', { source: 'docs', path: null }), wish(4, 1, 'release', null)],
  ]);
  const carriedOut = ['rescan docs', 'rescan docs', 'rescan docs', 'released 1'];
  expect(host.told.filter((one) => !one.startsWith('taken'))).toEqual(carriedOut);
});
