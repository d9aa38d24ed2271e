import * as z from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { DURATION_PATTERN, readDuration } from './duration.ts';
import type { Reading } from './reading.ts';
import {
  LONGEST_TIMER_MS,
  SECRET_PATTERN,
  readSecretReference,
  readTimer,
  type WrittenReference,
} from './values.ts';

/** What an editor shows of a field. `examples` are as the file would have them. */
export interface Help {
  readonly description: string;
  readonly examples?: unknown[];
  readonly [keyword: string]: unknown;
}

/** A text field that means what `read` gives. */
export function text<T>(read: (text: string) => Reading<T>, help: Help) {
  const schema = z.string().transform((value, context) => {
    const reading = read(value);
    if (reading.kind === 'ok') return reading.value;
    context.addIssue(reading.message);
    return z.NEVER;
  });
  return schema.meta(help);
}

/** A duration, in milliseconds; `mostMs`: what is longer is refused elsewhere. */
export function duration(help: Help, mostMs = Infinity) {
  return text((value) => readDuration(value, mostMs), { ...help, pattern: DURATION_PATTERN });
}

/** A duration that becomes a timer, in milliseconds; `leastMs`, `mostMs`: a shorter or a longer one makes no sense. */
export function timer(help: Help, leastMs = 1, mostMs = LONGEST_TIMER_MS) {
  const read = (value: string): Reading<number> => {
    const reading = readDuration(value, mostMs, leastMs);
    return reading.kind === 'ok' ? readTimer(reading.value, leastMs, mostMs) : reading;
  };
  return text(read, { ...help, pattern: DURATION_PATTERN });
}

/** The place where a secret is kept. `variable`: the environment variable that messages name as an example. */
export function secret(help: Help, variable?: string) {
  const read = (value: string): Reading<WrittenReference> => readSecretReference(value, variable);
  return text(read, { ...help, pattern: SECRET_PATTERN, writeOnly: true });
}

/** A whole number from 1 on. */
export function whole(help: Help, most = Number.MAX_SAFE_INTEGER) {
  return z.int().min(1).max(most).meta(help);
}

/** An object with any content. */
export function jsonObject(help: Help) {
  // What comes from JSON text holds nothing but JSON.
  return z
    .record(z.string(), z.unknown())
    .transform((value) => value as JsonObject)
    .meta(help);
}

/** A list that must not be empty. */
export function filled<T extends z.ZodType>(item: T, message: string) {
  return z.array(item).superRefine((list, context) => {
    if (list.length === 0) context.addIssue(message);
  });
}

/** A text or a list of texts, as a list. */
export function oneOrMore<T extends z.ZodType<unknown, string>>(item: T, message: string, help: Help) {
  const list = filled(item, message).meta({ minItems: 1 });
  return z
    .union([item.transform((single) => [single]), list])
    .transform((values) => values as z.output<T>[])
    .meta(help);
}
