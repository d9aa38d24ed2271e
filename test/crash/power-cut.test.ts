import { afterAll, expect, test } from 'vitest';
import { drawPoint, POINT_NAMES, type PointName } from './points.ts';
import type { PowerCut } from './power-cut.ts';
import { CrashRound } from './round.ts';
import { diceOf, KILLS_A_ROUND, readRunOptions } from './run-options.ts';
import { LARGE_BYTES } from './tree.ts';

const { rounds, isFull } = readRunOptions({ gate: 2, full: 4 }, 0.3);

const lossy = new Set<PowerCut['kind']>();

test.for(rounds)('power cuts: $name', { timeout: 120_000 }, async (one) => {
  const dice = diceOf(one);
  const mode = (['keep', 'expire', 'delete'] as const)[dice.roll(3)] ?? 'keep';
  const round = await CrashRound.create(mode, dice);
  try {
    for (let kills = 0, runs = 0; kills < KILLS_A_ROUND; runs++) {
      expect(runs).toBeLessThan(KILLS_A_ROUND * 3);
      const name = POINT_NAMES[(one.number * KILLS_A_ROUND + runs) % POINT_NAMES.length] as PointName;
      if (runs > 0 && dice.roll(3) === 0) round.tree.putBack();
      else round.tree.edit();
      if (name === 'mid-body') round.tree.editLarge();
      // Killed with the power on, a command leaves what only the next cut takes away.
      const end = await round.once(drawPoint(name, LARGE_BYTES, dice), dice.roll(4) === 0);
      if (end.kind === 'ended') {
        expect(end.ended).toMatchObject({ code: 0 });
        continue;
      }
      kills += 1;
      if (end.cut !== null && end.cut.unsyncedBytes > 0) lossy.add(end.cut.kind);
    }
    await round.endsInSync();
  } finally {
    round.close();
  }
});

afterAll(() => {
  if (isFull) expect([...lossy].sort()).toEqual(['torn', 'whole']);
});
