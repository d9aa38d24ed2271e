/** This part of the limit is spread over all hosts: what a host may use when it cannot ask. */
const FLOOR_PART = 0.2;

/** What one host's row says. Rates are requests a second. */
export interface ShareRow {
  readonly host: string;
  /** Another with each beat of the host: a row whose mark stays the same stands still. */
  readonly mark: string;
  /** The limit in the host's configuration. */
  readonly limit: number;
  /** What the host could use. */
  readonly wanted: number;
  /** What was granted, for as long as the host's beats go on. */
  readonly share: number;
  /** At most `share`: what the host may use for as long as it has a row. */
  readonly floor: number;
}

/** A host as another one knows it. */
export interface KnownHost extends ShareRow {
  /** Its row has stood still for longer than a grant is good for: the host is dead or cut off, and at its floor. */
  readonly isSilent: boolean;
}

/** What a host asks for, or is granted, requests a second. */
export interface Grant {
  readonly share: number;
  readonly floor: number;
}

/** What a host may use. Times are of its monotonic clock, milliseconds. */
export interface HeldShare {
  readonly perSecond: number;
  /** From then on it is the floor. */
  readonly untilMs: number;
  readonly floorPerSecond: number;
}

/** Before the first grant. */
export const NO_SHARE: HeldShare = { perSecond: 0, untilMs: -Infinity, floorPerSecond: 0 };

/** Requests a second that a host may send at a moment. */
export function rateAt({ perSecond, untilMs, floorPerSecond }: HeldShare, nowMs: number): number {
  return nowMs < untilMs ? perSecond : floorPerSecond;
}

/** The limit that all hosts keep: the lowest in the configuration of any that is not silent. */
function commonLimit(own: number, others: readonly KnownHost[]): number {
  return Math.min(own, ...others.filter(({ isSilent }) => !isSilent).map(({ limit }) => limit));
}

/** What another host may use at most, and so nobody else. */
function reservedFor({ isSilent, share, floor }: KnownHost): number {
  return isSilent ? floor : share;
}

/** What the reservations of others leave of the limit. */
export function roomBeside(ownLimit: number, others: readonly KnownHost[]): number {
  const reserved = others.reduce((sum, host) => sum + reservedFor(host), 0);
  return Math.max(0, commonLimit(ownLimit, others) - reserved);
}

/**
 * What a host ought to have: as much as it wants, where that leaves the others theirs; else as much as each of the others
 * that want more than they get (max-min fairness). Nobody gets less than its floor, an equal part of a fifth of the limit.
 */
export function fairGrant(
  own: { readonly limit: number; readonly wanted: number },
  others: readonly KnownHost[],
): Grant {
  const limit = commonLimit(own.limit, others);
  const floor = (limit * FLOOR_PART) / (others.length + 1);
  const silentFloors = others.reduce((sum, host) => (host.isSilent ? sum + host.floor : sum), 0);
  const wishes = others.filter(({ isSilent }) => !isSilent).map(({ wanted }) => Math.max(wanted, floor));
  const wish = Math.max(own.wanted, floor);
  const share = Math.min(wish, waterLevel([...wishes, wish], Math.max(0, limit - silentFloors)));
  return { share, floor: Math.min(floor, share) };
}

/** What a host is granted when it claims something: never more than the reservations of the others leave. */
export function grantOf(claim: Grant, ownLimit: number, others: readonly KnownHost[]): Grant {
  const share = Math.min(claim.share, roomBeside(ownLimit, others));
  return { share, floor: Math.min(claim.floor, share) };
}

/** The highest level at which the wishes, each cut to the level, are no more than there is. */
function waterLevel(wishes: readonly number[], available: number): number {
  let left = available;
  const rising = [...wishes].sort((a, b) => a - b);
  for (const [position, wish] of rising.entries()) {
    const even = left / (rising.length - position);
    if (wish >= even) return even;
    left -= wish;
  }
  return Infinity;
}
