import { closest, distance } from 'fastest-levenshtein';

/** Returns the name among `known` that was probably meant, or `null`. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const folded = new Map(known.map((one) => [one.toLowerCase(), one]));
  const written = name.toLowerCase();
  const swapped = [...folded.keys()].find((one) => isSwapOf(written, one));
  if (swapped !== undefined) return folded.get(swapped) ?? null;
  const candidate = closest(written, [...folded.keys()]);
  const near =
    distance(written, candidate) <= Math.max(1, Math.floor(Math.min(name.length, candidate.length) / 3));
  return near ? (folded.get(candidate) ?? null) : null;
}

/** Returns whether two adjacent letters were swapped, which a distance counts as two changes. */
function isSwapOf(written: string, name: string): boolean {
  if (written === name) return false;
  let at = 0;
  while (written[at] === name[at]) at += 1;
  return (
    written.slice(0, at) + (written[at + 1] ?? '') + (written[at] ?? '') + written.slice(at + 2) === name
  );
}

/** Bytes per unit; `k`, `m` and so on alone mean powers of 1000. */
const BYTES: Readonly<Record<string, number>> = {
  ...{ '': 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9, t: 1e12, tb: 1e12 },
  ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
};

/** A number with optional separators of thousands, and an optional unit: `5MB`, `1_000_000`, `10 MiB/s`. */
const QUANTITY = /^(\d{1,3}(?:[_, ]\d{3})+|\d+(?:\.\d+)?)\s*([a-z]*)(?:\/s|ps)?$/iu;

/**
 * Returns the number that a text probably means: `"5MB"` in a field of bytes is 5000000, `"50%"` in a fraction 0.5.
 * `null` if unknown.
 *
 * @param field - name of the field, which says what it counts.
 */
export function guessNumber(text: string, field: string): number | null {
  const [, percent] = /^(\d+(?:\.\d+)?)\s*%$/u.exec(text.trim()) ?? [];
  if (percent !== undefined) return field.endsWith('Fraction') ? Number(percent) / 100 : null;
  const [, digits, unit = ''] = QUANTITY.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  const isBytes = /Bytes(?:PerSecond)?$/u.test(field);
  const factor = unit === '' ? 1 : isBytes ? BYTES[unit.toLowerCase()] : undefined;
  if (factor === undefined) return null;
  const value = Number(digits.replaceAll(/[_, ]/gu, '')) * factor;
  return isBytes ? Math.round(value) : value;
}
