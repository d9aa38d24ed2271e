import { expect, test } from 'vitest';
import { createDice } from '../cli/churn.ts';
import type { ListedFile } from '../../src/emulator/emulator.ts';
import { readMark } from '../../src/domain/mark.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { digest } from './observe.ts';
import type { CrashPoint, InnerPointName, OuterPointName } from './points.ts';
import { CrashRound, type RunEnd } from './round.ts';
import { readRunOptions } from './run-options.ts';

const TIMEOUT = { timeout: 120_000 };

/** Where a command is killed, when it comes by for the how many-th time; `gate`: in the gate as well. */
type Kill = readonly [name: InnerPointName | OuterPointName, count: number, when?: 'gate'];

const { isGate } = readRunOptions({ gate: 1, full: 1 }, 1);

const toRun = (kills: readonly Kill[]): readonly Kill[] =>
  isGate ? kills.filter(([, , when]) => when === 'gate') : kills;

const pointOf = ([name, count]: Kill): CrashPoint =>
  /-(?:arrived|applied|answered)$/u.test(name)
    ? { kind: 'outer', name: name as OuterPointName, count, bytes: 0 }
    : { kind: 'inner', name: name as InnerPointName, count };

/** A source whose files are on the platform, confirmed and marked. */
async function confirmedRound(fields: Record<string, unknown> = {}): Promise<CrashRound> {
  const round = await CrashRound.create('keep', createDice(1), 'auto');
  round.configure(fields);
  expect(await round.once(null)).toMatchObject({ kind: 'ended', ended: { code: 0 } });
  return round;
}

async function killed(round: CrashRound, kill: Kill, hasPower = true): Promise<void> {
  const end: RunEnd = await round.once(pointOf(kill), hasPower);
  expect(end).toMatchObject({ kind: 'killed', isAtPoint: true });
}

/** The files of the source as the platform has them. */
function filesOf({ site, tree }: CrashRound): ListedFile[] {
  return site.emulator.listFiles('bot-1').filter(({ key }) => tree.files.has(key));
}

const upserts = ({ site }: CrashRound): number => site.emulator.counts.get('upsert') ?? 0;

function expectMarked(round: CrashRound): void {
  for (const { key, metadata } of filesOf(round)) {
    const sha256 = digest(round.tree.files.get(key) as Buffer);
    expect(readMark(metadata as JsonObject)).toEqual({ sha256, source: 'docs' });
  }
}

/** One run brings it to where it should be, and sends no file. */
async function isMended(round: CrashRound, sent: number): Promise<void> {
  expect(await round.once(null)).toMatchObject({ kind: 'ended', ended: { code: 0 } });
  expect(round.differences()).toEqual([]);
  expect(upserts(round)).toBe(sent);
}

// Its mark is set once a content is confirmed.
const MARKINGS: readonly Kill[] = [
  ['list-arrived', 1],
  ['list-answered', 1],
  ['before-marked', 1],
  ['after-marked', 1],
  ['update-arrived', 1, 'gate'],
  ['update-applied', 1, 'gate'],
  ['update-answered', 1],
];

test('killed between a large content and its mark', TIMEOUT, async () => {
  const round = await confirmedRound();
  try {
    for (const kill of toRun(MARKINGS)) {
      round.tree.editLarge();
      await killed(round, kill);
      await isMended(round, upserts(round));
      expectMarked(round);
    }
    await round.endsInSync();
  } finally {
    round.close();
  }
});

const ADOPTIONS: readonly Kill[] = [
  ['list-arrived', 1],
  ['list-answered', 1],
  ['before-adopted', 1],
  ['after-adopted', 14, 'gate'],
  ['before-commit', 2],
  ['after-commit', 2, 'gate'],
];

test('killed while what the platform has is taken over', TIMEOUT, async () => {
  const round = await confirmedRound();
  try {
    const sent = upserts(round);
    for (const kill of toRun(ADOPTIONS)) {
      for (const hasPower of [true, false]) {
        round.loseState();
        await killed(round, kill, hasPower);
        await isMended(round, sent);
      }
    }
    await round.endsInSync();
  } finally {
    round.close();
  }
});

const MANUAL = { match: '**', tags: { kind: 'manual', gone: 'x' }, metadata: { team: 'a', gone: 1 } };
const LETTER = { match: '**', tags: { kind: 'letter' }, metadata: { team: 'b' } };
const EXPIRING = { match: 'large/**', expiresIn: '30d' };

const CHANGES: readonly Kill[] = [
  ['before-changing', 3],
  ['after-changing', 3],
  ['update-arrived', 3],
  ['update-applied', 3, 'gate'],
  ['update-answered', 3],
  ['before-changed', 3],
  ['after-changed', 3, 'gate'],
];

/** All files carry what a rule says and no more, and only the large one expires, if any. */
function expectTold(
  round: CrashRound,
  { tags, metadata }: typeof MANUAL | typeof LETTER,
  isExpiring: boolean,
): void {
  for (const file of filesOf(round)) {
    expect(file.tags).toEqual(tags);
    expect(file.metadata).toEqual({ ...metadata, botsync: expect.anything() as unknown });
    expect(file.expiresAt !== undefined).toBe(isExpiring && file.key.startsWith('large/'));
  }
}

test('killed while files are told otherwise in place', TIMEOUT, async () => {
  const round = await confirmedRound({ rules: [MANUAL] });
  try {
    const sent = upserts(round);
    for (const [n, kill] of toRun(CHANGES).entries()) {
      const [from, to] = n % 2 === 0 ? [MANUAL, LETTER] : [LETTER, MANUAL];
      // First the rules are set back before the next run, so that nothing but a note of it tells what was said.
      for (const next of [from, to]) {
        round.configure({ rules: [to, ...(to === LETTER ? [EXPIRING] : [])] });
        await killed(round, kill, next === from);
        round.configure({ rules: [next, ...(next === LETTER ? [EXPIRING] : [])] });
        await isMended(round, sent);
        expectTold(round, next, next === LETTER);
      }
    }
    await round.endsInSync();
    expectMarked(round);
  } finally {
    round.close();
  }
});

const CHANGES_OF_ADOPTED: readonly Kill[] = [
  ['update-arrived', 2],
  ['update-applied', 2, 'gate'],
  ['update-answered', 2],
];

test('killed while what is taken over is told otherwise', TIMEOUT, async () => {
  const round = await confirmedRound({ rules: [MANUAL] });
  try {
    const sent = upserts(round);
    for (const [n, kill] of toRun(CHANGES_OF_ADOPTED).entries()) {
      round.loseState();
      round.configure({ rules: [{ match: '**', tags: { kind: `letter ${n}` } }] });
      await killed(round, kill);
      await isMended(round, sent);
      for (const { tags } of filesOf(round)) expect(tags).toMatchObject({ kind: `letter ${n}` });
    }
    await round.endsInSync();
  } finally {
    round.close();
  }
});
