import * as z from 'zod';
import { doOverlap, type TimedRate } from '../domain/byte-rate.ts';
import { guessNumber } from './guess.ts';
import { meaning, problem, quote, type Reading } from './problem.ts';
import { text, whole, type Help } from './schema-fields.ts';

const RANGE = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/u;

/** Hours as people write them: `8-18`, `8:00 – 18:00`. */
const LIKE_RANGE = /^(\d{1,2})(?:[:.](\d\d))?\s*[-–]\s*(\d{1,2})(?:[:.](\d\d))?$/u;

/** A speed in bytes per second: a number, a text such as `"1MB"`, or either for ranges of hours. */
export function byteRate(help: Help) {
  const simple = z.union([
    whole({ description: 'Bytes per second.' }),
    text(readRate, { description: 'A size per second, such as "1MB".' }),
  ]);
  const table = z
    .record(z.string(), simple)
    .transform(readTable)
    .meta({
      description: 'Limits by hours of the day, local time; there is none in other hours.',
      examples: [{ '08:00-18:00': '1MB' }],
    });
  return z.union([...simple.options, table]).meta(help);
}

function readRate(written: string): Reading<number> {
  const bytes = guessNumber(written, 'maxBytesPerSecond');
  if (bytes === null) return problem(`${quote(written)} is not a size; write for example "1MB"`);
  return bytes >= 1 ? meaning(bytes) : problem(`${quote(written)} is less than a byte; write at least 1`);
}

function readTable(
  table: Readonly<Record<string, number>>,
  context: z.core.$RefinementCtx,
): readonly TimedRate[] {
  const ranges: { readonly hours: string; readonly rate: TimedRate }[] = [];
  const refuse = (hours: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [hours], message });
  };
  for (const [hours, bytesPerSecond] of Object.entries(table)) {
    const reading = readRange(hours);
    if (reading.kind === 'problem') {
      refuse(hours, reading.message);
      continue;
    }
    const rate = { ...reading.value, bytesPerSecond };
    const other = ranges.find((one) => doOverlap(one.rate, rate));
    if (other === undefined) ranges.push({ hours, rate });
    else refuse(hours, `overlaps ${quote(other.hours)}; write ranges of which only one counts at a time`);
  }
  if (Object.keys(table).length === 0)
    context.addIssue('has no hours; write for example { "08:00-18:00": "1MB" }, or null for no limit');
  return ranges.map(({ rate }) => rate);
}

function readRange(hours: string): Reading<Pick<TimedRate, 'fromMinute' | 'untilMinute'>> {
  const parts = RANGE.exec(hours)?.slice(1).map(Number);
  if (parts === undefined)
    return problem(`${quote(hours)} is not a range of hours; write ${guessRange(hours)}`);
  const [fromHour = 0, fromMinutes = 0, untilHour = 0, untilMinutes = 0] = parts;
  const fromMinute = fromHour * 60 + fromMinutes;
  const untilMinute = untilHour * 60 + untilMinutes;
  if (untilMinute > 24 * 60) return problem(`${quote(hours)} ends after midnight; write "24:00" at most`);
  return fromMinute === untilMinute
    ? problem(`${quote(hours)} is empty; for the whole day write the limit without hours`)
    : meaning({ fromMinute, untilMinute });
}

function guessRange(hours: string): string {
  const parts = LIKE_RANGE.exec(hours.trim());
  if (parts === null) return 'for example "08:00-18:00"';
  const [, from = '', fromMinutes = '00', until = '', untilMinutes = '00'] = parts;
  const guess = `${from.padStart(2, '0')}:${fromMinutes}-${until.padStart(2, '0')}:${untilMinutes}`;
  return RANGE.test(guess) ? quote(guess) : 'for example "08:00-18:00"';
}
