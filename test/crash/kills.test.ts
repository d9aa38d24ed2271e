import { afterAll, expect, test } from 'vitest';
import type { Dice } from '../cli/churn.ts';
import { DELETION_POINTS, drawPoint, OUTER_POINTS, POINT_NAMES, type PointName } from './points.ts';
import { CrashRound, type Mode, type RunEnd } from './round.ts';
import { diceOf, KILLS_A_ROUND, readRunOptions } from './run-options.ts';
import { LARGE_BYTES } from './tree.ts';

const { rounds, isFull } = readRunOptions({ gate: 3, full: 10 }, 0.7);

/** All modes in turn, in the gate as well. */
const MODES: readonly Mode[] = ['keep', 'expire', 'delete'];

/** Every fifth round is a daemon's, and one of the gate's. */
const isDaemons = (number: number): boolean => number % 5 === 2;

const reached = new Map<PointName, number>();

/** All points in turn; every other one around deletions where files are deleted. The last kill of a round finds files on their way. */
function pointOf(mode: Mode, round: number, kills: number, runs: number): PointName {
  if (kills === KILLS_A_ROUND - 1) return inTurn(OUTER_POINTS, round + runs);
  const isDeletion = mode === 'delete' && runs % 2 === 1;
  if (isDeletion) return inTurn(DELETION_POINTS, round * (KILLS_A_ROUND / 2) + (runs - 1) / 2);
  return inTurn(POINT_NAMES, round * (KILLS_A_ROUND - 1) + runs);
}

function inTurn(names: readonly PointName[], turn: number): PointName {
  return names[turn % names.length] as PointName;
}

/** Edits for the next run; after a kill, files may have what they held before again. */
function edit({ tree }: CrashRound, name: PointName, dice: Dice, wasKilled: boolean): void {
  if (wasKilled && dice.roll(3) === 0) tree.putBack();
  else tree.edit();
  if (name === 'mid-body' || dice.roll(8) === 0) tree.editLarge();
}

test.for(rounds)('kills: $name', { timeout: 120_000 }, async (one) => {
  const dice = diceOf(one);
  const mode = MODES[one.number % MODES.length] as Mode;
  const round = await CrashRound.create(mode, dice);
  try {
    let last: RunEnd | null = null;
    for (let kills = 0, runs = 0; kills < KILLS_A_ROUND; runs++) {
      expect(runs).toBeLessThan(KILLS_A_ROUND * 3);
      const name = pointOf(mode, one.number, kills, runs);
      // Now and then the command is killed again before it got anywhere, with nothing edited in between.
      if (last === null || dice.roll(4) > 0) edit(round, name, dice, last?.kind === 'killed');
      const point = drawPoint(name, LARGE_BYTES, dice);
      last = isDaemons(one.number)
        ? await round.daemon(point, () => {
            round.tree.edit();
          })
        : await round.once(point);
      if (last.kind === 'killed') {
        kills += 1;
        if (last.isAtPoint) reached.set(name, (reached.get(name) ?? 0) + 1);
      } else {
        expect(last.ended).toMatchObject({ code: 0 });
        expect(round.differences()).toEqual([]);
      }
    }
    // Nothing but the record of an intent tells that these are not what the platform has.
    if (last?.kind === 'killed') round.tree.putBack();
    await round.endsInSync(isDaemons(one.number) ? 'daemon' : 'once');
  } finally {
    round.close();
  }
});

afterAll(() => {
  if (!isFull) return;
  expect([...POINT_NAMES, ...DELETION_POINTS].filter((name) => !reached.has(name))).toEqual([]);
});
