import * as z from 'zod';

const tagsSchema = z.record(z.string(), z.string());

/**
 * The tag filter of a query; null when it makes no sense. It comes as `tags={"k":"v"}`, `tags[k]=v` or `tags.k=v`.
 * Source: platform-facts.md, Files.
 */
export function readTags(given: URLSearchParams): Readonly<Record<string, string>> | null {
  const tags: [string, string][] = [];
  for (const text of given.getAll('tags')) {
    const parsed = tagsSchema.safeParse(parseJson(text));
    if (!parsed.success) return null;
    tags.push(...Object.entries(parsed.data));
  }
  for (const [name, value] of given) {
    const tag = readTagName(name);
    if (tag !== null) tags.push([tag, value]);
  }
  return new Set(tags.map(([tag]) => tag)).size === tags.length ? Object.fromEntries(tags) : null;
}

/** The tag that a parameter of the query filters by, null when it is none. */
export function readTagName(parameter: string): string | null {
  const match = /^tags(?:\[(.+)\]|\.(.+))$/s.exec(parameter);
  return match === null ? null : (match[1] ?? match[2] ?? null);
}

/** What a text is as JSON, null when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
