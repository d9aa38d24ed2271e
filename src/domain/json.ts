export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Returns JSON text with the names of every object in code-unit order, so that equal values give equal text. */
export function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_name, inner: JsonValue) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(byName)) : inner,
  );
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function byName([a]: [string, JsonValue], [b]: [string, JsonValue]): number {
  return a < b ? -1 : 1;
}
