import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { GlobalOptions } from '../global-options.ts';
import { print, printJson, shown } from './output.ts';

/**
 * Renders a resource for people, one field per line, without empty fields. Of maps only the names are shown: their
 * inner structure is not known (interface.md, Integration).
 *
 * @param first - the first fields, in order; the others follow as the platform sent them.
 * @param whole - fields shown as JSON, since every part of them matters.
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

export interface ShownResource {
  /** The name of its field with `--json`. */
  readonly name: string;
  readonly resource: JsonObject;
  readonly first: readonly string[];
  readonly whole?: readonly string[];
}

/** Prints a resource with masked secrets; `secrets` are ours, and masked even with `--show-secrets`. */
export function printResource(
  { json, showSecrets }: ResourceOptions,
  secrets: readonly string[],
  { name, resource, first, whole }: ShownResource,
): void {
  const masked = maskSecrets(resource, secrets, !showSecrets) as JsonObject;
  if (json) printJson({ [name]: masked });
  else print(describeResource(masked, first, whole).join('\n'));
}

/** Renders a value on one line. */
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

const MASK = '***';

/** A shorter secret, of somebody who only experiments, would match within ordinary words. */
const SHORTEST_SECRET = 8;

/** Names of fields with secrets: `signingSecret`, `secrets`, `access_token`, `apiKey`. */
const SECRET_NAME =
  /(?:secrets?|passwords?|passphrases?|tokens?|credentials?|authorization|(?:api|user|private|access|signing)[_-]?keys?)$/iu;

/**
 * Masks secrets at any depth: texts of fields with secret names, and `known` secrets everywhere. Objects below such
 * fields are kept, since a schema may describe a secret.
 *
 * @param maskFields - `false` masks only known secrets.
 */
export function maskSecrets(value: JsonValue, known: readonly string[], maskFields: boolean): JsonValue {
  const secrets = known.filter(({ length }) => length >= SHORTEST_SECRET);
  const clean = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
  const mask = (one: JsonValue, isSecret: boolean): JsonValue => {
    if (typeof one === 'string') return isSecret && one !== '' ? MASK : clean(one);
    if (Array.isArray(one)) return (one as readonly JsonValue[]).map((inner) => mask(inner, isSecret));
    if (typeof one !== 'object' || one === null) return one;
    const fields = Object.entries(one as JsonObject).map(([name, inner]) => [
      clean(name),
      mask(inner, maskFields && SECRET_NAME.test(name)),
    ]);
    return Object.fromEntries(fields) as JsonObject;
  };
  return mask(value, false);
}

/** Options of commands that print a resource of the platform. */
export interface ResourceOptions extends GlobalOptions {
  /** Shows secrets in the answer, except our own. */
  readonly showSecrets: boolean;
}
