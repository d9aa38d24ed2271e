import type { JsonObject, JsonValue } from './json.ts';

/** A field that differs between the source's configurations on this host and in the ledger; `null`: absent. Values are JSON. */
export interface FieldDifference {
  /** Such as `keyPrefix` or `rules[0].set.index`. */
  readonly field: string;
  readonly here: string | null;
  readonly ledger: string | null;
}

/** Returns the fields in which two configurations of a source differ, as deep as possible. */
export function differencesOf(here: JsonObject, ledger: JsonObject): FieldDifference[] {
  return differences('', here, ledger);
}

function differences(
  field: string,
  here: JsonValue | undefined,
  ledger: JsonValue | undefined,
): FieldDifference[] {
  if (isNested(here) && isNested(ledger) && Array.isArray(here) === Array.isArray(ledger)) {
    const [a, b] = [here as JsonObject, ledger as JsonObject];
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.flatMap((name) => differences(fieldIn(field, name, Array.isArray(here)), a[name], b[name]));
  }
  const [ours, theirs] = [textOf(here), textOf(ledger)];
  return ours === theirs ? [] : [{ field, here: ours, ledger: theirs }];
}

function isNested(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

function fieldIn(field: string, name: string, isInList: boolean): string {
  if (isInList) return `${field}[${name}]`;
  return field === '' ? name : `${field}.${name}`;
}

function textOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Validates a value from the database, which others may have written. */
export function isFieldDifference(value: unknown): value is FieldDifference {
  const { field, here, ledger } = (value ?? {}) as Partial<Record<keyof FieldDifference, unknown>>;
  const areTexts = [here, ledger].every((one) => one === null || typeof one === 'string');
  return typeof field === 'string' && areTexts;
}
