import type { JsonObject, JsonValue } from '../../domain/json.ts';

/** What stands in place of a secret. */
const MASK = '***';

/** A shorter one, of somebody who only tries things out, would be found within ordinary words. */
const SHORTEST_SECRET = 8;

/** Names of fields whose texts are secrets: `signingSecret`, `secrets`, `access_token`, `apiKey`. */
const SECRET_NAME =
  /(?:secrets?|passwords?|passphrases?|tokens?|credentials?|authorization|(?:api|user|private|access|signing)[_-]?keys?)$/iu;

/**
 * A value without secrets, at any depth: the texts of fields whose names say that they are secret, and `known` secrets
 * wherever they stand. Objects below such a field are looked into: a schema may well describe a secret.
 *
 * @param maskFields - `false`: only the known ones go.
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
