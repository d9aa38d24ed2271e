import { beginWithinMs } from '../../src/domain/lease.ts';
import type { Arrival, FileEvent, Testimony, UnitEvent } from './witness.ts';

/** The clocks of both witnesses are one, but one of them counts whole milliseconds. */
const ROUNDING_MS = 2;

/** What a request may take to arrive on a busy machine, milliseconds. It is much less than what the lease leaves. */
const TRAVEL_MS = 600;

/**
 * What a cluster did wrong: requests without a right to them, without an intent, or more than once. Every content of a key has
 * a length of its own.
 *
 * @param isForgetful - the database lost commits: each file may be sent once more.
 */
export function faultsOf(testimony: Testimony, leaseMs: number, isForgetful = false): string[] {
  return [
    ...withoutRight(testimony, leaseMs),
    ...withoutIntent(testimony),
    ...sentTwice(testimony, isForgetful),
  ];
}

/** Requests by who did not hold the unit, or had not proven it for too long. */
function withoutRight({ units, arrivals }: Testimony, leaseMs: number): string[] {
  return arrivals.flatMap((arrival) => {
    const { at, endAt, blindMs, endBlindMs, operation, isSettled } = arrival;
    if (isSettled) return [];
    const begun = lastBefore(units, at);
    const ended = endAt === null ? begun : lastBefore(units, endAt);
    const found = [];
    if (begun?.host !== arrival.host || begun.holder === null)
      found.push(`of a host that does not hold the unit (epoch ${begun?.epoch} is of ${begun?.host})`);
    if (ended?.epoch !== begun?.epoch || ended?.holder !== begun?.holder)
      found.push(`ended under another epoch (${ended?.epoch}) than it began (${begun?.epoch})`);
    const provenAt = begun?.at ?? 0;
    if (operation !== 'upload' && at - blindMs - provenAt > beginWithinMs(leaseMs) + TRAVEL_MS)
      found.push(`${Math.round(at - provenAt)} ms after the last proof of the lease`);
    if (endAt !== null && endAt - endBlindMs - (ended?.at ?? 0) > leaseMs)
      found.push(`over ${Math.round(endAt - (ended?.at ?? 0))} ms after the last proof of the lease`);
    return found.map((what) => `${wordsOf(arrival)}: ${what}`);
  });
}

/** Upserts for which the ledger had no intent of the epoch of that moment. */
function withoutIntent({ units, files, arrivals }: Testimony): string[] {
  const byKey = grouped(files);
  return arrivals.flatMap((arrival) => {
    if (arrival.operation !== 'upsert' || arrival.key === null || arrival.isSettled) return [];
    const intent = lastBefore(byKey.get(arrival.key) ?? [], arrival.at);
    const epoch = lastBefore(units, arrival.at)?.epoch;
    const isOpen = intent?.state === 'sending' || intent?.state === 'removing';
    if (isOpen && intent.epoch === epoch) return [];
    return [
      `${wordsOf(arrival)} in epoch ${epoch}: the ledger said ${intent?.state} of epoch ${intent?.epoch}`,
    ];
  });
}

/** Contents that were sent again although the ledger had them as sent; `isForgetful`: more than once. */
function sentTwice({ files, arrivals }: Testimony, isForgetful: boolean): string[] {
  const once = new Set<string>();
  const byKey = grouped(files);
  const last = new Map<string, Arrival>();
  return arrivals.flatMap((arrival) => {
    if (arrival.operation !== 'upsert' || arrival.key === null) return [];
    const before = last.get(arrival.key);
    last.set(arrival.key, arrival);
    if (before?.sizeBytes !== arrival.sizeBytes) return [];
    const { at } = before;
    const settled = (byKey.get(arrival.key) ?? []).find(
      (event) => event.at > at && event.at < arrival.at && event.state === 'synced',
    );
    if (settled === undefined) return [];
    const isAllowed = isForgetful && !once.has(arrival.key);
    once.add(arrival.key);
    return isAllowed ? [] : [`${wordsOf(arrival)}: sent twice, and was in sync`];
  });
}

function wordsOf({ host, operation, key, at }: Arrival): string {
  return `${operation} ${key ?? ''} by ${host} at ${new Date(at).toISOString()}`;
}

function lastBefore<E extends UnitEvent | FileEvent>(events: readonly E[], at: number): E | undefined {
  return events.findLast((event) => event.at <= at + ROUNDING_MS);
}

function grouped(files: readonly FileEvent[]): Map<string, FileEvent[]> {
  const byKey = new Map<string, FileEvent[]>();
  for (const event of files) byKey.set(event.key, [...(byKey.get(event.key) ?? []), event]);
  return byKey;
}
