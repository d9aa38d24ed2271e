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

/** The milliseconds of a duration such as `"90s"` (a whole or decimal number and one of the units ms s m h d w). */
export function readDuration(text: string): Reading<number> {
  if (!DURATION.test(text)) return problem(`${quote(text)} is not a duration; ${mend(text)}`);
  const durationMs = Math.round(ms(text as StringValue));
  if (!Number.isSafeInteger(durationMs)) return problem(`${quote(text)} is too long`);
  return durationMs > 0
    ? meaning(durationMs)
    : problem(`${quote(text)} is no time at all; write at least "1ms"`);
}

/** A duration as the config would write it, in the largest unit that gives a whole number. */
export function formatDuration(durationMs: number): string {
  const [unit, unitMs] = UNITS.find(([, size]) => durationMs % size === 0) ?? ['ms', 1];
  return `${durationMs / unitMs}${unit}`;
}

function mend(text: string): string {
  if (/^\d+(?:\.\d+)?$/u.test(text)) return `add a unit, such as "${text}s" or "${text}m" (ms s m h d w)`;
  // `ms` gives NaN or undefined for what it does not understand.
  const guessMs: unknown = text === '' ? undefined : ms(text as StringValue);
  return typeof guessMs === 'number' && guessMs >= 1
    ? `write "${formatDuration(Math.round(guessMs))}"`
    : 'write a number and one of the units ms s m h d w, such as "15m"';
}
