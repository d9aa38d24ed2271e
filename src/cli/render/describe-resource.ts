import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { shown } from './output.ts';

/**
 * A resource as lines for people, one field a line; what is empty is left out. Of maps the names are told: their inner
 * structure is not known (interface.md, Integration).
 *
 * @param first - fields that come first, in this order; the others follow as the platform sent them.
 * @param whole - fields that are shown as JSON, since every part of them matters.
 */
export function describeResource(
  resource: JsonObject,
  first: readonly string[],
  whole: readonly string[] = [],
): string[] {
  const names = [...first, ...Object.keys(resource).filter((name) => !first.includes(name))];
  const rows = names.flatMap((name): [string, string][] => {
    const value = resource[name];
    if (value === undefined) return [];
    const text = whole.includes(name) ? JSON.stringify(value) : describe(value);
    return text === '' ? [] : [[shown(name), shown(text)]];
  });
  const width = rows.reduce((widest, [name]) => Math.max(widest, name.length), 0) + 2;
  return rows.map(([name, text]) => `${`${name}:`.padEnd(width)}${text}`);
}

/** A value on one line. */
export function describe(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(describeInner).join(', ');
  if (typeof value !== 'object') return String(value).trim().replace(/\s+/gu, ' ');
  const fields = Object.entries(value as JsonObject);
  const isFlat = fields.every(([, inner]) => typeof inner !== 'object' || inner === null);
  if (!isFlat) return fields.map(([name]) => name).join(', ');
  return fields
    .map(([name, inner]) => [name, describe(inner)] as const)
    .filter(([, text]) => text !== '')
    .map((pair) => pair.join('='))
    .join(', ');
}

function describeInner(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : describe(value);
}
