/** A unit moves to the host that is to have it only after so long without any change among the hosts, milliseconds. */
const QUIET_MS = 60_000;

/** What matters for whether a host takes a unit that it could work on and does not hold. */
export interface TakeFacts {
  /**
   * Who has it, as far as the ledger knows; `this-host`: a process of this host that has ended; `forgotten`: the ledger does
   * not know of its last claim any more.
   */
  readonly holder: 'nobody' | 'this-host' | 'another-host' | 'forgotten';
  /** For how long nobody has proven it, milliseconds. */
  readonly stillMs: number;
  readonly leaseMs: number;
  /** Whether of all hosts that could take it this one is to; of one whose claim was forgotten: whether this host has its records. */
  readonly isBest: boolean;
  /** For how long a unit that is another host's to take is left to that one, milliseconds. */
  readonly courtesyMs: number;
}

/** Whether a host takes a unit now. */
export function isToTake({ holder, stillMs, leaseMs, isBest, courtesyMs }: TakeFacts): boolean {
  switch (holder) {
    case 'this-host':
      return true;
    case 'nobody':
      return isBest || stillMs >= courtesyMs;
    case 'another-host':
      return stillMs >= leaseMs && (isBest || stillMs - leaseMs >= courtesyMs);
    case 'forgotten':
      // Whoever took it since may come back with all records.
      return stillMs >= (isBest ? leaseMs : 2 * leaseMs);
  }
}

/** What matters for whether a host lets go of a unit for the host that is to have it. */
export interface MoveFacts {
  /** For how long the same hosts have been there, milliseconds. */
  readonly unchangedMs: number;
  readonly isBest: boolean;
  readonly canOthersTake: boolean;
  /** Whether it has nothing under way just now. */
  readonly isQuiet: boolean;
}

/** Whether a host lets go of a unit now, so that the host that is to have it takes it. */
export function isToMove({ unchangedMs, isBest, canOthersTake, isQuiet }: MoveFacts): boolean {
  return unchangedMs >= QUIET_MS && !isBest && canOthersTake && isQuiet;
}

/**
 * Why no host could take a unit.
 * - `no-host`: none is up.
 * - `unseen`: none that is up has its sources and sees their directories.
 * - `no-weight`: those that do have the weight 0.
 */
export type WhyUntaken = 'no-host' | 'unseen' | 'no-weight';

/** Why none of these hosts, which are up, could take a unit, by its number; `null`: one could. */
export function whyUntaken(
  unit: number,
  hosts: readonly { readonly units: readonly number[]; readonly weight: number }[],
): WhyUntaken | null {
  if (hosts.length === 0) return 'no-host';
  const seeing = hosts.filter(({ units }) => units.includes(unit));
  if (seeing.length === 0) return 'unseen';
  return seeing.every(({ weight }) => weight <= 0) ? 'no-weight' : null;
}

/** A host, as far as it matters whether its configuration is like that of others. */
interface ConfiguredHost {
  readonly units: readonly number[];
  /** Equal on hosts that treat shared files alike. */
  readonly digest: string;
}

/** Whether two hosts treat files otherwise that both may sync: they may do as they please with what each has alone. */
export function disagree(one: ConfiguredHost, other: ConfiguredHost): boolean {
  return one.digest !== other.digest && one.units.some((id) => other.units.includes(id));
}
