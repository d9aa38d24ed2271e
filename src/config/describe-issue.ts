import type * as z from 'zod';
import { DURATION_PATTERN } from './duration.ts';
import { fieldSchema, listFields, type SchemaNode } from './json-schema.ts';
import { nearest, guessNumber } from './guess.ts';
import { error, type FieldPath, type Finding, quote } from './problem.ts';

type Issue = z.core.$ZodIssue;

/**
 * Describes an issue of the schema: what is wrong, the value found unless it may be secret, and what to write instead.
 */
export function describeIssue(issue: Issue, value: unknown, root: SchemaNode): Finding[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  const found = valueAt(value, path);
  const field = fieldSchema(root, path) ?? {};
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => error([...path, name], describeUnknown(name, path, root), 'name'));
    case 'invalid_union': {
      const branches = issue.errors.filter((issues) => !issues.some(isAboutKind));
      const inner = branches.length === 1 ? (branches[0] ?? []) : [];
      if (inner.length === 0) return [describeKind(path, found, kindsIn(issue.errors), field)];
      return inner.flatMap((one) => describeIssue({ ...one, path: [...path, ...one.path] }, value, root));
    }
    case 'invalid_type':
      return [describeKind(path, found, KINDS[issue.expected] ?? issue.expected, field)];
    case 'invalid_value':
      return [describeChoice(path, found, issue.values.map(String), field)];
    case 'too_small':
      return [
        error(
          path,
          `is ${show(found)}; write ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`,
        ),
      ];
    case 'too_big':
      return [error(path, `is ${show(found)}; write at most ${issue.maximum}`)];
    case 'custom':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
      return [error(path, issue.message)];
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Returns the kinds of value that a field may have: "a string or a list of strings". */
function kindsIn(errors: readonly (readonly Issue[])[]): string {
  const expected = errors.flat().flatMap((one) => (one.code === 'invalid_type' ? [one.expected] : []));
  const kinds = expected.map((kind) => (kind === 'array' ? 'a list of strings' : (KINDS[kind] ?? kind)));
  return kinds.join(', ').replace(/, (?=[^,]*$)/u, ' or ');
}

function isAboutKind(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

function describeUnknown(name: string, path: FieldPath, root: SchemaNode): string {
  const known = Object.keys(fieldSchema(root, path)?.properties ?? {}).filter((one) => one !== '$schema');
  const meant = nearest(name, known);
  if (meant !== null) return `unknown field; did you mean "${meant}"?`;
  const elsewhere = [...listFields(root).keys()].find((field) => field.endsWith(`.${name}`));
  if (elsewhere !== undefined) return `unknown field; did you mean "${elsewhere}"?`;
  return `unknown field; known fields: ${known.join(', ')}`;
}

function describeKind(path: FieldPath, found: unknown, expected: string, field: SchemaNode): Finding {
  const example = field.examples?.[0] ?? field.default;
  const forExample = example === undefined ? '' : `; for example ${inline(example)}`;
  if (found === undefined)
    return error(path, `is missing; write ${expected}${forExample.replace(';', ',')}`, 'absence');
  // A text in place of a block may be the secret that belongs into the block.
  const mayShow = field.writeOnly !== true && (expected.includes('number') || expected === 'true or false');
  const shown = typeof found === 'string' && !mayShow ? 'a string' : show(found, field.writeOnly === true);
  return error(
    path,
    `expected ${expected}, found ${shown}${correctionOf(path, found, expected, field) ?? forExample}`,
  );
}

/** Returns what to write instead of a value of the wrong type; `null` if unknown. */
function correctionOf(path: FieldPath, found: unknown, expected: string, field: SchemaNode): string | null {
  if (field.writeOnly === true) return null;
  if (field.pattern === DURATION_PATTERN)
    return typeof found === 'number' ? '; write it with a unit, such as "15m"' : null;
  if (expected === 'a string' && (typeof found === 'number' || typeof found === 'boolean')) {
    return `; write it as a string: "${found}"`;
  }
  if (typeof found !== 'string') return null;
  if (expected === 'true or false')
    return found === 'true' || found === 'false' ? `; write it without quotes: ${found}` : null;
  const meant = expected.includes('number') ? guessNumber(found, String(path.at(-1))) : null;
  if (meant === null) return null;
  return String(meant) === found ? `; write it without quotes: ${found}` : `; write ${meant}`;
}

function describeChoice(
  path: FieldPath,
  found: unknown,
  choices: readonly string[],
  field: SchemaNode,
): Finding {
  const list = choices.map((choice) => `"${choice}"`).join(', ');
  if (found === undefined) return error(path, `is missing; write one of ${list}`, 'absence');
  const meant = typeof found === 'string' ? nearest(found, choices) : null;
  return error(
    path,
    `is ${show(found, field.writeOnly === true)}; write ${meant === null ? `one of ${list}` : `"${meant}" (one of ${list})`}`,
  );
}

function show(value: unknown, secret = false): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (secret) return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function inline(value: unknown): string {
  return JSON.stringify(value).replaceAll('":', '": ').replaceAll(',"', ', "');
}

/** Returns the value at a path; `undefined` if there is none. */
export function valueAt(root: unknown, path: FieldPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
