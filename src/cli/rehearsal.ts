import { formatDuration, readDuration } from '../config/duration.ts';
import { readTimer } from '../config/values.ts';
import type { Conditions } from '../emulator/conditions.ts';
import { demand, UsageError } from './usage-error.ts';

/** Failures of the local platform, to see how botsync reacts. */
export interface Rehearsal {
  /** Bytes per second that the store reads of all uploads together; `null` for no limit. */
  readonly slowBytesPerSecond: number | null;
  readonly outage: Outage | null;
}

/**
 * Every request is answered with this status after the start, for this many milliseconds, or until the emulator
 * ends (`null`).
 */
interface Outage {
  readonly status: number;
  readonly forMs: number | null;
}

export interface RehearsalOptions {
  /** Bytes per second; empty for the default. */
  readonly slow: string | undefined;
  readonly fail: number | undefined;
  /** A duration. */
  readonly failFor: string | undefined;
}

/** Slow enough to watch a file of some MB, in bytes per second. */
const USUAL_SLOW = 100_000;

/** Parses `--slow`, `--fail` and `--fail-for`. Throws `UsageError`. */
export function readRehearsal({ slow, fail, failFor }: RehearsalOptions): Rehearsal {
  return {
    slowBytesPerSecond: slow === undefined ? null : readRate(slow),
    outage:
      fail === undefined && failFor === undefined
        ? null
        : { status: readStatus(fail ?? 503), forMs: failFor === undefined ? null : readFor(failFor) },
  };
}

/** Starts a rehearsal and returns a function that ends it; `isOver` is called when an outage ends without a request to end it. */
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

/** Describes a rehearsal, one sentence per line. */
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
  return demand('--fail-for', readTimer(demand('--fail-for', readDuration(text))));
}
