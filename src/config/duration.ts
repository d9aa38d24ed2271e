import ms, { type StringValue } from 'ms';
import { meaning, problem, quote, type Reading } from './problem.ts';

/** The syntax of a duration; also in the JSON Schema. */
export const DURATION_PATTERN = '^\\d+(?:\\.\\d+)?(?:ms|s|m|h|d|w)$';

const DURATION = new RegExp(DURATION_PATTERN, 'u');

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/**
 * Reads a duration such as `"90s"` (a whole or decimal number and one of the units ms s m h d w), in milliseconds.
 *
 * @param mostMs - the most that the field accepts: nothing longer is suggested, but longer durations are read.
 * @param leastMs - the least that the field accepts, which is suggested instead of zero.
 */
export function readDuration(text: string, mostMs = Infinity, leastMs = 1): Reading<number> {
  if (!DURATION.test(text)) return problem(`${quote(text)} is not a duration; ${correctionOf(text, mostMs)}`);
  const durationMs = Math.round(ms(text as StringValue));
  if (!Number.isSafeInteger(durationMs)) return problem(`${quote(text)} is too long`);
  return durationMs > 0
    ? meaning(durationMs)
    : problem(`${quote(text)} is zero; write at least "${formatDuration(leastMs)}"`);
}

/** Formats a duration as in the config, in the largest unit that gives a whole number. */
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

/**
 * Returns the milliseconds that a text such as `15 minutes` or `1y` probably means; more than a week is rounded down to
 * days.
 */
function guessDuration(text: string): number | null {
  const [, months] = /^(\d+(?:\.\d+)?)\s*(?:mo|months?)$/iu.exec(text) ?? [];
  // `ms` returns NaN or undefined for unknown texts, throws for an empty text, and does not know months.
  const guessMs: unknown =
    months === undefined ? (text === '' ? undefined : ms(text as StringValue)) : Number(months) * 30 * DAY_MS;
  if (typeof guessMs !== 'number' || !(guessMs >= 1)) return null;
  return guessMs > 7 * DAY_MS ? Math.floor(guessMs / DAY_MS) * DAY_MS : Math.round(guessMs);
}
