import { closest, distance } from 'fastest-levenshtein';
import type * as z from 'zod';
import { DURATION_PATTERN } from './duration.ts';
import { fieldSchema, listFields, type SchemaNode } from './json-schema.ts';
import { error, type FieldPath, type Finding } from './problem.ts';
import { guessNumber } from './quantity.ts';
import { quote } from './reading.ts';

type Issue = z.core.$ZodIssue;

/** What the schema refused, in words: what is wrong, the value found unless it may be secret, and what to write instead. */
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
      if (inner.length === 0) return [describeKind(path, found, 'a string or a list of strings', field)];
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

/** The name among `known` that was probably meant, or `null`. */
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

/** Whether two neighbouring letters changed places, which counts as two changes in a distance. */
function isSwapOf(written: string, name: string): boolean {
  if (written === name) return false;
  let at = 0;
  while (written[at] === name[at]) at += 1;
  return (
    written.slice(0, at) + (written[at + 1] ?? '') + (written[at] ?? '') + written.slice(at + 2) === name
  );
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
  // A text where a whole block belongs may be the secret that goes into that block.
  const mayShow = field.writeOnly !== true && (expected.includes('number') || expected === 'true or false');
  const shown = typeof found === 'string' && !mayShow ? 'a string' : show(found, field.writeOnly === true);
  return error(
    path,
    `expected ${expected}, found ${shown}${correctionOf(path, found, expected, field) ?? forExample}`,
  );
}

/** What to write in place of a value of the wrong kind, where that can be told. */
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

/** What a value holds at a path; `undefined` where it holds nothing. */
export function valueAt(root: unknown, path: FieldPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
