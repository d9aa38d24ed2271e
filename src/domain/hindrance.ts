import { haltSchema, type Halt } from './guard.ts';
import { isFieldDifference, type FieldDifference } from './source-settings.ts';

/** A halt about what one host sees of a directory; another host may see the files. */
export type UnseenHalt = Extract<
  Halt,
  { readonly kind: 'missing' | 'replaced' | 'emptied' | 'mounts-changed' }
>;

/** What keeps a host of a cluster from a source of its configuration. It stands beside its beat, as JSON. */
export type Hindrance =
  /**
   * It does not see the files. `unit`: the number of the source's unit; `halt`: what would halt the source here, `no-files` where the
   * directory is empty and no file of it is on record.
   */
  | {
      readonly kind: 'unseen';
      readonly source: string;
      readonly unit: number;
      readonly halt: UnseenHalt | { readonly kind: 'no-files'; readonly directory: string };
    }
  /** The ledger has another configuration of it. */
  | { readonly kind: 'differing'; readonly source: string; readonly fields: readonly FieldDifference[] };

/** See `Hindrance`. */
export type Unseen = Extract<Hindrance, { readonly kind: 'unseen' }>;

/** A host, as far as it matters which units it could work on. */
export interface AbleHost {
  readonly name: string;
  /** See `HostNews`. */
  readonly units: readonly number[];
  readonly hindrances: readonly Hindrance[];
}

/** Returns whether a halt is about what this host sees of a directory. */
export function isUnseen(halt: Halt): halt is UnseenHalt {
  return halt.kind !== 'new-keys' && halt.kind !== 'mass-removal';
}

/** Returns whether a host sees the directories of a unit that it has in its configuration. */
function sees(host: AbleHost, unit: number): boolean {
  return host.units.includes(unit) && seesIfTaken(host, unit);
}

function seesIfTaken({ hindrances }: AbleHost, unit: number): boolean {
  return !hindrances.some((one) => one.kind === 'unseen' && one.unit === unit);
}

/** Returns what of a host's hindrances people are told: that a directory is empty is nothing to tell of unless another host sees files. */
export function toldHindrances({ hindrances }: AbleHost, hosts: readonly AbleHost[]): Hindrance[] {
  return hindrances.filter(
    (one) =>
      one.kind === 'differing' || one.halt.kind !== 'no-files' || hosts.some((host) => sees(host, one.unit)),
  );
}

/** Returns the name of a host that sees the directories of a unit where this one does not; `null`: it does, or no other does either. */
export function seeingInstead(hosts: readonly AbleHost[], me: string, unit: number): string | null {
  const isBlind = hosts.some((host) => host.name === me && !seesIfTaken(host, unit));
  const other = hosts.find((host) => host.name !== me && sees(host, unit));
  return isBlind ? (other?.name ?? null) : null;
}

/**
 * Returns which of some hosts are to have a unit: those that see its directories. Where none does, it is all that have it in their
 * configuration: one of them halts it, so that people are told and can approve.
 */
export function ableHosts<H extends AbleHost>(hosts: readonly H[], unit: number): H[] {
  const seeing = hosts.filter((host) => sees(host, unit));
  return seeing.length > 0 ? seeing : hosts.filter(({ units }) => units.includes(unit));
}

/** Returns whether a value is a hindrance: somebody else may have written to the database. */
export function isHindrance(value: unknown): value is Hindrance {
  const { kind, source, unit, halt, fields } = (value ?? {}) as Record<string, unknown>;
  if (typeof source !== 'string') return false;
  if (kind === 'differing') return Array.isArray(fields) && fields.every(isFieldDifference);
  return kind === 'unseen' && typeof unit === 'number' && isUnseenHalt(halt);
}

function isUnseenHalt(value: unknown): boolean {
  const { kind, directory } = (value ?? {}) as Record<string, unknown>;
  if (kind === 'no-files') return typeof directory === 'string';
  const halt = haltSchema.safeParse(value);
  return halt.success && isUnseen(halt.data);
}
