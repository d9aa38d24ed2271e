import type { Dice } from '../cli/churn.ts';

/** Points within the command, at which `crash-points.js` ends it. */
const INNER_POINTS = [
  'before-opening',
  'before-intent',
  'after-intent',
  'before-commit',
  'after-commit',
  'before-sync',
  'during-sync',
  'after-sync',
  'before-record',
  'after-record',
  'before-checkpoint',
  'after-checkpoint',
] as const;

/** What the platform sees of a request. */
export const OUTER_POINTS = [
  'upsert-arrived',
  'upsert-applied',
  'upsert-answered',
  'mid-body',
  'upload-applied',
  'upload-answered',
] as const;

/** The same of what is asked to delete a file. */
export const DELETION_POINTS = [
  'get-arrived',
  'get-answered',
  'delete-arrived',
  'delete-applied',
  'delete-answered',
] as const;

/** The same of lists, and of what a file is told without its content. */
export const CATALOG_POINTS = [
  'list-arrived',
  'list-answered',
  'update-arrived',
  'update-applied',
  'update-answered',
] as const;

/** What is written down of files that are found on the platform, told otherwise, or marked. */
export const CATALOG_WRITES = [
  'before-adopted',
  'after-adopted',
  'before-changing',
  'after-changing',
  'before-changed',
  'after-changed',
  'before-marked',
  'after-marked',
] as const;

/** Every name of a point at which a command is killed, whatever it does about removed files. */
export const POINT_NAMES = [...INNER_POINTS, ...OUTER_POINTS, 'any-moment'] as const;

export type InnerPointName = (typeof INNER_POINTS | typeof CATALOG_WRITES)[number] | 'creation';
export type OuterPointName = (typeof OUTER_POINTS | typeof DELETION_POINTS | typeof CATALOG_POINTS)[number];
export type PointName = (typeof POINT_NAMES | typeof DELETION_POINTS)[number];

/** Where a command is killed. `count`: the how many-th time that it comes by. */
export type CrashPoint =
  | { readonly kind: 'inner'; readonly name: InnerPointName; readonly count: number }
  /** `bytes`: of a large body, as they arrive. */
  | { readonly kind: 'outer'; readonly name: OuterPointName; readonly count: number; readonly bytes: number }
  | { readonly kind: 'moment'; readonly name: 'any-moment'; readonly afterMs: number };

/** How often a pass over a few changed files comes by a point at most, or nearly so; of the others it is `MOST`. */
const FEW: Partial<Record<PointName, number>> = {
  'before-opening': 1,
  'before-commit': 3,
  'after-commit': 3,
  'before-sync': 1,
  'during-sync': 1,
  'after-sync': 1,
  'before-checkpoint': 1,
  'after-checkpoint': 1,
  'mid-body': 1,
  'get-arrived': 2,
  'get-answered': 2,
  'delete-arrived': 2,
  'delete-applied': 2,
  'delete-answered': 2,
};
const MOST = 6;

/** A pass takes about so long, milliseconds. */
const LONGEST_MS = 400;

/** Draws where exactly a command is to be killed. `largeBytes`: the size of a large file. */
export function drawPoint(name: PointName, largeBytes: number, dice: Dice): CrashPoint {
  if (name === 'any-moment') return { kind: 'moment', name, afterMs: dice.roll(LONGEST_MS) };
  const count = 1 + dice.roll(FEW[name] ?? MOST);
  if (isOuter(name)) return { kind: 'outer', name, count, bytes: 1 + dice.roll(largeBytes - 1) };
  return { kind: 'inner', name, count };
}

function isOuter(name: PointName): name is OuterPointName & PointName {
  return [...OUTER_POINTS, ...DELETION_POINTS].some((one) => one === name);
}
