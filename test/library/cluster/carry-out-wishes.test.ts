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

const wish = (id: number, unit: number, kind: string): WishRow => ({ id, unit, kind, body: {} });

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

test('what nobody can ask is deleted with a line in the log, and nothing is done', async () => {
  const holder = createHost(new Map([[1, 'at work']]));
  await holder.carryOut([wish(1, 1, 'explode\n'), wish(2, 1, 'announce'), wish(3, 5, 'explode')]);
  expect(holder.told).toEqual([
    'taken 1',
    '"explode\\n" is nothing that can be asked of docs; it was deleted',
    'taken 2',
    '"announce" is nothing that can be asked of docs; it was deleted',
  ]);
});
