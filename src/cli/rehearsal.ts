import { formatDuration, readDuration } from '../config/duration.ts';
import { readTimer } from '../config/values.ts';
import type { Conditions } from '../emulator/conditions.ts';
import { UsageError } from './usage-error.ts';

/** A bad day of the local platform, for people who want to see what botsync does on one. */
export interface Rehearsal {
  /** How much the store reads of all uploads together, bytes a second; `null`: as much as comes. */
  readonly slowBytesPerSecond: number | null;
  readonly outage: Outage | null;
}

/** Everything is answered with one status, from the start, so long (milliseconds) or until the emulator ends (`null`). */
interface Outage {
  readonly status: number;
  readonly forMs: number | null;
}

/** What the command line says of a rehearsal. */
export interface RehearsalOptions {
  /** Bytes a second; empty: the usual ones. */
  readonly slow: string | undefined;
  readonly fail: number | undefined;
  /** A duration. */
  readonly failFor: string | undefined;
}

/** So slow that a file of some MB takes long enough to be looked at, bytes a second. */
const USUAL_SLOW = 100_000;

/** Reads `--slow`, `--fail` and `--fail-for`. Throws `UsageError`. */
export function readRehearsal({ slow, fail, failFor }: RehearsalOptions): Rehearsal {
  return {
    slowBytesPerSecond: slow === undefined ? null : readRate(slow),
    outage:
      fail === undefined && failFor === undefined
        ? null
        : { status: readStatus(fail ?? 503), forMs: failFor === undefined ? null : readFor(failFor) },
  };
}

/** Brings a rehearsal about. Returns what ends it; `isOver` is called when an outage ends by itself. */
export async function rehearse(
  { slowBytesPerSecond, outage }: Rehearsal,
  conditions: Conditions,
  isOver: () => void,
): Promise<() => void> {
  if (slowBytesPerSecond !== null)
    await conditions.set({ kind: 'slow-store', bytesPerSecond: slowBytesPerSecond });
  if (outage === null) return () => undefined;
  const { status, forMs } = outage;
  await conditions.set({ kind: 'unavailable', status });
  if (forMs === null) return () => undefined;
  const timer = setTimeout(() => {
    conditions.endOutage();
    isOver();
  }, forMs);
  return () => {
    clearTimeout(timer);
  };
}

/** A rehearsal in words, a line each. */
export function describeRehearsal({ slowBytesPerSecond, outage }: Rehearsal): string[] {
  const forMs = outage?.forMs ?? null;
  const until = forMs === null ? '' : ` for ${formatDuration(forMs)}`;
  return [
    ...(slowBytesPerSecond === null ? [] : [`Uploads are read at ${slowBytesPerSecond} bytes per second.`]),
    ...(outage === null ? [] : [`Every request is answered with ${outage.status}${until}.`]),
  ];
}

function readRate(text: string): number {
  const rate = text === '' ? USUAL_SLOW : Number(text);
  if (!Number.isSafeInteger(rate) || rate < 1)
    throw new UsageError(`--slow ${text}: write a number of bytes per second, such as ${USUAL_SLOW}`);
  return rate;
}

function readStatus(status: number): number {
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new UsageError('--fail takes a status from 400 to 599, such as 503');
  return status;
}

function readFor(text: string): number {
  const duration = readDuration(text);
  const reading = duration.kind === 'ok' ? readTimer(duration.value) : duration;
  if (reading.kind === 'problem') throw new UsageError(`--fail-for: ${reading.message}`);
  return reading.value;
}
