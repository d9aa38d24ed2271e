/** A speed limit for some hours of each day. Minutes since midnight, local time; the range may cross midnight. */
export interface TimedRate {
  readonly fromMinute: number;
  /** Not included. */
  readonly untilMinute: number;
  readonly bytesPerSecond: number;
}

/** A speed limit: bytes per second, or only for some hours; `null`: none. */
export type ByteRate = number | readonly TimedRate[] | null;

/** Returns the limit at a moment (epoch milliseconds), bytes per second; `null`: none. */
export function rateAt(rate: ByteRate, nowMs: number): number | null {
  if (rate === null || typeof rate === 'number') return rate;
  const now = new Date(nowMs);
  const minute = now.getHours() * 60 + now.getMinutes();
  return rate.find((range) => covers(range, minute))?.bytesPerSecond ?? null;
}

/** Returns the lowest limit at any time, bytes per second; `null`: none. */
export function lowestRate(rate: ByteRate): number | null {
  if (rate === null || typeof rate === 'number') return rate;
  return rate.reduce<number>((lowest, { bytesPerSecond }) => Math.min(lowest, bytesPerSecond), Infinity);
}

/** Returns whether two ranges have a minute in common: then one of them begins within the other. */
export function doOverlap(one: TimedRate, other: TimedRate): boolean {
  return covers(one, other.fromMinute) || covers(other, one.fromMinute);
}

function covers({ fromMinute, untilMinute }: TimedRate, minute: number): boolean {
  return fromMinute < untilMinute
    ? minute >= fromMinute && minute < untilMinute
    : minute >= fromMinute || minute < untilMinute;
}
