import ms, { type StringValue } from 'ms';
import { meaning, problem, quote, type Reading } from './reading.ts';

/** How a duration is written; goes into the JSON Schema as well. */
export const DURATION_PATTERN = '^\\d+(?:\\.\\d+)?(?:ms|s|m|h|d|w)$';

const DURATION = new RegExp(DURATION_PATTERN, 'u');

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/**
 * The milliseconds of a duration such as `"90s"` (a whole or decimal number and one of the units ms s m h d w).
 *
 * @param mostMs - the most that the field takes: nothing longer is suggested. What is longer is understood all the same.
 * @param leastMs - the least that the field takes, which is suggested in place of nothing.
 */
export function readDuration(text: string, mostMs = Infinity, leastMs = 1): Reading<number> {
  if (!DURATION.test(text)) return problem(`${quote(text)} is not a duration; ${correctionOf(text, mostMs)}`);
  const durationMs = Math.round(ms(text as StringValue));
  if (!Number.isSafeInteger(durationMs)) return problem(`${quote(text)} is too long`);
  return durationMs > 0
    ? meaning(durationMs)
    : problem(`${quote(text)} is zero; write at least "${formatDuration(leastMs)}"`);
}

/** A duration as the config would write it, in the largest unit that gives a whole number. */
export function formatDuration(durationMs: number): string {
  const [unit, unitMs] = UNITS.find(([, size]) => durationMs % size === 0) ?? ['ms', 1];
  return `${durationMs / unitMs}${unit}`;
}

function correctionOf(text: string, mostMs: number): string {
  if (/^\d+(?:\.\d+)?$/u.test(text)) return `add a unit, such as "${text}s" or "${text}m" (ms s m h d w)`;
  const guessMs = guessDuration(text);
  if (guessMs === null) return 'write a number and one of the units ms s m h d w, such as "15m"';
  return guessMs > mostMs
    ? `write at most "${formatDuration(mostMs)}"`
    : `write "${formatDuration(guessMs)}"`;
}

const DAY_MS = 86_400_000;

/** What a text in other words probably means, milliseconds: `15 minutes`, `1y`. From some days on, in whole days. */
function guessDuration(text: string): number | null {
  const [, months] = /^(\d+(?:\.\d+)?)\s*(?:mo|months?)$/iu.exec(text) ?? [];
  // `ms` gives NaN or undefined for what it does not understand, and throws for an empty text. It knows no months.
  const guessMs: unknown =
    months === undefined ? (text === '' ? undefined : ms(text as StringValue)) : Number(months) * 30 * DAY_MS;
  if (typeof guessMs !== 'number' || !(guessMs >= 1)) return null;
  return guessMs > 7 * DAY_MS ? Math.floor(guessMs / DAY_MS) * DAY_MS : Math.round(guessMs);
}
