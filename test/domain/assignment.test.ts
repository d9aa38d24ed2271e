import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignFree, fairShareOf, type Assignable } from '../../src/domain/unit.ts';
import { SEED } from '../seed.ts';

const HOSTS = ['web1', 'web2', 'web3'];

function unit(id: number, holder: string | null = null, candidates: readonly string[] = HOSTS): Assignable {
  return { id, holder, candidates };
}

const six = (holder: (id: number) => string | null = () => null): Assignable[] =>
  [1, 2, 3, 4, 5, 6].map((id) => unit(id, holder(id)));

/** How many units each host has once all have got what they ask for. */
function counts(units: readonly Assignable[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const { holder } of units) if (holder !== null) all[holder] = (all[holder] ?? 0) + 1;
  return all;
}

function afterAsking(units: readonly Assignable[]): Assignable[] {
  const asked = new Map(HOSTS.flatMap((host) => fairShareOf(host, units).map((id) => [id, host] as const)));
  return units.map((one) => ({ ...one, holder: asked.get(one.id) ?? one.holder }));
}

describe('units that are free', () => {
  test('go to the host with the fewest: six on three hosts are two each', () => {
    expect([...assignFree(six())]).toEqual([
      [1, 'web1'],
      [2, 'web2'],
      [3, 'web3'],
      [4, 'web1'],
      [5, 'web2'],
      [6, 'web3'],
    ]);
    expect([...assignFree([...six((id) => (id > 2 ? 'web1' : null))])]).toEqual([
      [1, 'web2'],
      [2, 'web3'],
    ]);
  });

  test('go to nobody who could not work on them, and those with few candidates first', () => {
    expect(assignFree([unit(1, null, [])]).size).toBe(0);
    expect([...assignFree([unit(1, null, ['web1', 'web2']), unit(2, null, ['web1'])])]).toEqual([
      [2, 'web1'],
      [1, 'web2'],
    ]);
  });
});

describe('a host that joins', () => {
  test('asks for as many as the others have: six on three hosts are two each', () => {
    expect(
      fairShareOf(
        'web2',
        six(() => 'web1'),
      ).length,
    ).toBe(2);
    expect(counts(afterAsking(six(() => 'web1')))).toEqual({ web1: 2, web2: 2, web3: 2 });
    const two = six((id) => (id > 3 ? 'web1' : 'web2'));
    expect(counts(afterAsking(two))).toEqual({ web1: 2, web2: 2, web3: 2 });
    expect(fairShareOf('web1', two)).toEqual([]);
  });

  test('asks for nothing that would only turn the difference round, nor for what it could not work on', () => {
    expect(fairShareOf('web2', [unit(1, 'web1')])).toEqual([]);
    expect(fairShareOf('web2', [unit(1, 'web1'), unit(2, 'web1', ['web1'])])).toEqual([1]);
    expect(
      fairShareOf(
        'web2',
        six(() => 'web1').map((one) => ({ ...one, candidates: ['web1'] })),
      ),
    ).toEqual([]);
    expect(fairShareOf('web2', six())).toEqual([]);
  });

  test('whatever the others ask for at a time, nobody has two more than another who could have one of them', () => {
    const drawn = fc.array(
      fc.record({
        holder: fc.constantFrom(...HOSTS, null),
        candidates: fc.subarray(HOSTS),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(drawn, (made) => {
        const units = made.map((one, id) => ({ id, ...one }));
        const after = afterAsking(units);
        const all = counts(after);
        for (const { holder, candidates } of after)
          for (const host of candidates)
            if (holder !== null) expect((all[holder] ?? 0) - (all[host] ?? 0)).toBeLessThan(2);
        const assigned = assignFree(units);
        for (const [id, host] of assigned)
          expect(units[id]).toMatchObject({
            holder: null,
            candidates: expect.arrayContaining([host]) as unknown,
          });
      }),
      { seed: SEED },
    );
  });
});
