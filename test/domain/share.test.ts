import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fairGrant, grantOf, type KnownHost } from '../../src/domain/share.ts';
import { SEED } from '../seed.ts';
import { ShareWorld } from './share-world.ts';

const LIMIT = 90;
const GRANT_MS = 10_000;
const TERMS = { limit: LIMIT, grantMs: GRANT_MS, expelMs: Infinity };
/** Sums of fractions. */
const EPSILON = 1e-9;

const HOSTS = ['a', 'b', 'c', 'd'];

function known(host: string, more: Partial<KnownHost> = {}): KnownHost {
  return { host, mark: `${host}:1`, limit: LIMIT, wanted: 0, share: 0, floor: 0, isSilent: false, ...more };
}

/** What hosts with these wishes ought to have. */
function fairShares(wishes: readonly number[]): number[] {
  return wishes.map((wanted, own) => {
    const others = wishes.flatMap((wish, n) => (n === own ? [] : [known(`h${n}`, { wanted: wish })]));
    return fairGrant({ limit: LIMIT, wanted }, others).share;
  });
}

describe('a fair share', () => {
  test.each<[string, number[], number[]]>([
    ['alone and hungry: everything', [90], [90]],
    ['alone and idle: a fifth', [0], [18]],
    ['all hungry: equal parts', [90, 90, 90, 90], [22.5, 22.5, 22.5, 22.5]],
    ['one hungry: all but the floors of the others', [90, 0, 0, 0], [76.5, 4.5, 4.5, 4.5]],
    ['modest wishes are granted, the rest is equal', [10, 20, 90, 90], [10, 20, 30, 30]],
    ['all that is wanted, when it is less than the limit', [10, 20, 30], [10, 20, 30]],
  ])('%s', (_, wishes, shares) => {
    const given = fairShares(wishes);
    for (const [n, share] of shares.entries()) expect(given[n]).toBeCloseTo(share, 9);
  });

  test('floors of silent hosts stay theirs, and what they wanted is nobody’s', () => {
    const others = [known('b', { isSilent: true, wanted: 90, share: 40, floor: 9 }), known('c')];
    expect(fairGrant({ limit: LIMIT, wanted: 90 }, others)).toEqual({ share: 75, floor: 6 });
  });

  test('the lowest limit of any that is not silent is that of all', () => {
    const others = [known('b', { limit: 60 }), known('c', { limit: 30, isSilent: true })];
    expect(fairGrant({ limit: LIMIT, wanted: 90 }, others)).toEqual({ share: 56, floor: 4 });
    expect(grantOf({ share: 90, floor: 4 }, LIMIT, others)).toEqual({ share: 60, floor: 4 });
  });

  test('is max-min: whoever gets less than it wants gets as much as anybody, and nobody less than its floor', () => {
    const wish = fc.double({ min: 0, max: LIMIT, noNaN: true });
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 50 }), (wishes) => {
        const shares = fairShares(wishes);
        const sum = shares.reduce((total, share) => total + share, 0);
        const most = Math.max(...shares);
        expect(sum).toBeLessThanOrEqual(LIMIT + EPSILON);
        for (const [n, share] of shares.entries()) {
          const wanted = wishes[n] ?? NaN;
          expect(share).toBeGreaterThanOrEqual((LIMIT * 0.2) / wishes.length - EPSILON);
          if (share < wanted - EPSILON) {
            expect(share).toBeGreaterThanOrEqual(most - EPSILON);
            expect(sum).toBeGreaterThanOrEqual(LIMIT - EPSILON);
          }
        }
      }),
      { seed: SEED },
    );
  });
});

type Step =
  | { readonly kind: 'start' | 'kill' | 'ask' | 'beat'; readonly host: string }
  | { readonly kind: 'want'; readonly host: string; readonly wanted: number }
  | { readonly kind: 'arrive' | 'hear' | 'lose' | 'untold'; readonly n: number }
  | { readonly kind: 'pass'; readonly ms: number };

const host = fc.constantFrom(...HOSTS);
const n = fc.nat({ max: 5 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'kill' as const), host }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('ask' as const, 'beat' as const), host }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('want' as const),
      host,
      wanted: fc.constantFrom(0, 5, 30, 90),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('arrive' as const, 'hear' as const), n }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('lose' as const, 'untold' as const), n }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 500, 2500, 9999, 10_000, 11_001, 30_000),
    }),
  },
);

function carryOut(world: ShareWorld, step: Step): void {
  switch (step.kind) {
    case 'start':
      world.start(step.host);
      break;
    case 'kill':
      world.kill(step.host);
      break;
    case 'ask':
      world.ask(step.host);
      break;
    case 'beat':
      world.beat(step.host);
      break;
    case 'want':
      world.wanted.set(step.host, step.wanted);
      break;
    case 'arrive':
      world.arrive(step.n);
      break;
    case 'hear':
      world.hear(step.n);
      break;
    case 'lose':
      world.requests.splice(step.n, 1);
      break;
    case 'untold':
      world.answers.splice(step.n, 1);
      break;
    case 'pass':
      world.advance(step.ms);
      break;
  }
}

/** Some beats of every host that runs, as often as grants need. */
function settle(world: ShareWorld, beats: number, hosts: readonly string[] = HOSTS): void {
  for (let beat = 0; beat < beats; beat += 1) {
    for (const name of hosts) world.beat(name);
    world.advance(GRANT_MS / 4);
  }
}

describe('several hosts', () => {
  test('never have more than the limit together, whatever is late, lost, killed, stopped or cut off', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 20, maxLength: 150 }), (steps) => {
        const world = new ShareWorld(TERMS);
        for (const name of HOSTS) world.start(name);
        for (const name of HOSTS) world.wanted.set(name, LIMIT);
        for (const step of steps) {
          carryOut(world, step);
          expect(world.total).toBeLessThanOrEqual(LIMIT + EPSILON);
        }
      }),
      { seed: SEED, numRuns: 700 },
    );
  });

  test('have what is fair soon after all can ask again', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 20, maxLength: 60 }), (steps) => {
        const world = new ShareWorld(TERMS);
        for (const step of steps) carryOut(world, step);
        for (const name of HOSTS) world.start(name);
        for (const name of HOSTS) world.wanted.set(name, LIMIT);
        world.requests.length = 0;
        settle(world, 6);
        for (const name of HOSTS) expect(world.rate(name)).toBeCloseTo(LIMIT / HOSTS.length, 6);
        world.wanted.set('a', 5);
        settle(world, 2);
        expect(HOSTS.map((name) => Math.round(world.rate(name)))).toEqual([5, 28, 28, 28]);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  test('give the share of a killed host to the others when its grant has ended, and keep its floor', () => {
    const world = hungry('a', 'b');
    expect([world.rate('a'), world.rate('b')]).toEqual([45, 45]);
    world.kill('b');
    for (let beat = 0; beat < 5; beat += 1) {
      world.beat('a');
      expect(world.rate('a')).toBe(45);
      world.advance(GRANT_MS / 4);
    }
    world.beat('a');
    expect(world.rate('a')).toBe(81);
  });

  test('keep the floor of a host that is cut off for as long as it has a row; it goes on at that', () => {
    const world = hungry('a', 'b');
    world.advance(3_600_000);
    settle(world, 7, ['a']);
    expect([world.rate('a'), world.rate('b')]).toEqual([81, 9]);
    world.beat('b');
    expect(world.rate('b')).toBe(9);
    settle(world, 2, ['a', 'b']);
    expect([world.rate('a'), world.rate('b')]).toEqual([45, 45]);
  });

  test('have nothing to keep for a host that left its row for longer than `expelMs`', () => {
    const world = hungry('a', 'b', { ...TERMS, expelMs: 100_000 });
    world.kill('b');
    settle(world, 40, ['a']);
    expect(world.rate('a')).toBe(81);
    settle(world, 4, ['a']);
    expect([...world.table.rows.keys()]).toEqual(['a']);
    expect(world.rate('a')).toBe(90);
  });

  test('keep the rows of those who could not write while the database was away', () => {
    const world = hungry('a', 'b', { ...TERMS, expelMs: 100_000 });
    world.beat('a');
    world.advance(86_400_000);
    settle(world, 8, ['a']);
    expect([...world.table.rows.keys()]).toEqual(['a', 'b']);
    expect([world.rate('a'), world.rate('b')]).toEqual([81, 9]);
  });

  test('a request that arrives after a later one of the same host changes nothing', () => {
    const world = hungry('a', 'b');
    world.wanted.set('a', 0);
    world.ask('a');
    world.wanted.set('a', 90);
    world.ask('a');
    world.arrive(1);
    world.hear(0);
    expect(world.rate('a')).toBe(45);
    world.arrive(0);
    for (let beat = 0; beat < 2; beat += 1) world.beat('b');
    expect(world.total).toBe(90);
  });

  test('have their grants for so long from when they asked, however late the answer is', () => {
    const world = hungry('a', 'b');
    world.ask('a');
    world.advance(GRANT_MS - 1);
    world.arrive(0);
    world.hear(0);
    expect(world.rate('a')).toBe(45);
    world.advance(1);
    expect(world.rate('a')).toBe(9);
  });

  test('an answer to an earlier request than the last raises nothing', () => {
    const world = hungry('a', 'b');
    world.ask('a');
    world.wanted.set('a', 0);
    world.ask('a');
    world.arrive(0);
    world.arrive(0);
    world.beat('b');
    world.beat('b');
    expect(world.rate('b')).toBe(81);
    world.hear(0);
    expect(world.rate('a')).toBe(9);
  });

  test('of one name: one of the two sends nothing, and goes on when the other is gone', () => {
    const world = hungry('a', 'b');
    const [first, second] = [world.process('a'), world.run('a')];
    for (let beat = 0; beat < 3; beat += 1) world.beat('a', second);
    world.beat('a', first);
    expect([world.rate('a', first), first.holder.isReplaced]).toEqual([0, true]);
    expect(world.rate('a', second)).toBe(45);
    for (let beat = 0; beat < 8; beat += 1) {
      world.advance(GRANT_MS / 4);
      for (const one of [second, first, first]) world.beat('a', one);
      world.beat('b');
      expect([world.rate('a', first), first.holder.isReplaced]).toEqual([0, true]);
    }
    world.advance(GRANT_MS * 1.2);
    world.beat('b');
    world.beat('a', first);
    expect(first.holder.isReplaced).toBe(false);
    expect(world.rate('a', first)).toBe(9);
  });

  test('what a killed process asked for first changes nothing for the one that came after it', () => {
    const world = hungry('a', 'b');
    world.start('a');
    world.beat('a');
    world.ask('a');
    world.start('a');
    for (let beat = 0; beat < 3; beat += 1) world.beat('a');
    expect(world.rate('a')).toBe(45);
    world.arrive(0);
    world.beat('a');
    expect(world.rate('a')).toBe(45);
  });
});

/** Two hosts that want everything, and have what is fair. */
function hungry(one: string, other: string, terms = TERMS): ShareWorld {
  const world = new ShareWorld(terms);
  for (const name of [one, other]) {
    world.start(name);
    world.wanted.set(name, LIMIT);
  }
  settle(world, 4, [one, other]);
  return world;
}
