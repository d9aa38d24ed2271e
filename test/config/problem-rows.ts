import { expect } from 'vitest';

/** The one source, as short as it can be. */
export const SOURCE = { directory: './docs' };

/** A configuration with one mistake, and the one line that tells of it, from the field on. */
export type Row = readonly [fields: Readonly<Record<string, unknown>>, line: string | RegExp];

/** Fields that change the platform. */
export const platform = (fields: object): Record<string, unknown> => ({
  platform: { botId: 'bot-1', ...fields },
});

/** Fields that change the one source. */
export const source = (fields: object): Record<string, unknown> => ({ sources: [{ ...SOURCE, ...fields }] });

/** Fields with one rule, for every file. */
export const rule = (fields: object): Record<string, unknown> => ({ rules: [{ match: '**', ...fields }] });

const withoutPlace = (line: string): string => line.replace(/^c(?::\d+:\d+)?: /u, '');

/** Holds lines of problems or warnings, but for the place each begins with, against what is expected. */
export function expectLines(lines: readonly string[], expected: readonly (string | RegExp)[]): void {
  const told = lines.map(withoutPlace);
  expect(told).toEqual(
    expected.map((one): unknown => (typeof one === 'string' ? one : expect.stringMatching(one))),
  );
}
