/** How many bytes a unit has; `k` and so on alone are taken as they are used, in thousands. */
const BYTES: Readonly<Record<string, number>> = {
  ...{ '': 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9, t: 1e12, tb: 1e12 },
  ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
};

/** A number with its thousands set apart, and perhaps a unit: `5MB`, `1_000_000`, `10 MiB/s`. */
const QUANTITY = /^(\d{1,3}(?:[_, ]\d{3})+|\d+(?:\.\d+)?)\s*([a-z]*)(?:\/s|ps)?$/iu;

/**
 * The number that a text probably stands for where a number belongs: `"5MB"` in a field of bytes is 5000000, `"50%"` in
 * a fraction 0.5. `null` when that cannot be told.
 *
 * @param field - the name of the field, which says what it counts.
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
