import * as z from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { SecretReference } from './config.ts';
import { DURATION_PATTERN, readDuration } from './duration.ts';
import type { Reading } from './problem.ts';
import { LONGEST_TIMER_MS, SECRET_PATTERN, readSecretReference, readTimer } from './values.ts';

/** Metadata of a field for editors. `examples` are as in the file. */
export interface Help {
  readonly description: string;
  readonly examples?: unknown[];
  readonly [keyword: string]: unknown;
}

/** A text field whose value is what `read` returns. */
export function text<T>(read: (text: string) => Reading<T>, help: Help) {
  const schema = z.string().transform((value, context) => {
    const reading = read(value);
    if (reading.kind === 'ok') return reading.value;
    context.addIssue(reading.message);
    return z.NEVER;
  });
  return schema.meta(help);
}

/** A duration, in milliseconds. `mostMs` limits suggestions only; longer ones are refused elsewhere. */
export function duration(help: Help, mostMs = Infinity) {
  return text((value) => readDuration(value, mostMs), { ...help, pattern: DURATION_PATTERN });
}

/** A duration for a timer, in milliseconds, from `leastMs` to `mostMs`. */
export function timer(help: Help, leastMs = 1, mostMs = LONGEST_TIMER_MS) {
  const read = (value: string): Reading<number> => {
    const reading = readDuration(value, mostMs, leastMs);
    return reading.kind === 'ok' ? readTimer(reading.value, leastMs, mostMs) : reading;
  };
  return text(read, { ...help, pattern: DURATION_PATTERN });
}

/** A reference to a secret. `variable`: the environment variable in examples of messages. */
export function secret(help: Help, variable?: string) {
  const read = (value: string): Reading<SecretReference> => readSecretReference(value, variable);
  return text(read, { ...help, pattern: SECRET_PATTERN, writeOnly: true });
}

/** A whole number from 1 to `most`. */
export function whole(help: Help, most = Number.MAX_SAFE_INTEGER) {
  return z.int().min(1).max(most).meta(help);
}

export function jsonObject(help: Help) {
  // Parsed JSON contains nothing but JSON.
  return z
    .record(z.string(), z.unknown())
    .transform((value) => value as JsonObject)
    .meta(help);
}

/** A list that must not be empty; `message` is the problem if it is. */
export function filled<T extends z.ZodType>(item: T, message: string) {
  return z.array(item).superRefine((list, context) => {
    if (list.length === 0) context.addIssue(message);
  });
}

/** A text or a non-empty list of texts, read as a list. */
export function oneOrMore<T extends z.ZodType<unknown, string>>(item: T, message: string, help: Help) {
  const list = filled(item, message).meta({ minItems: 1 });
  return z
    .union([item.transform((single) => [single]), list])
    .transform((values) => values as z.output<T>[])
    .meta(help);
}
