import { StateFileError } from './database.ts';

/** The furthest moment that a date can hold, epoch milliseconds. */
const FURTHEST_MS = 8.64e15;

/** Throws `StateFileError` where a row holds what was never written: the columns of a damaged page can be of any type. */
export function mustMakeSense(isSound: boolean): asserts isSound {
  if (!isSound) throw new StateFileError('damaged', 'a row is invalid');
}

/** Whether a value can be a moment in epoch milliseconds. */
export function isMoment(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= FURTHEST_MS;
}

/** Whether a value is a text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Whether a value is a whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
