import { HALT_TRAITS, haltSchema, type Halt } from './guard.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** A halt caused by how one host sees a directory; another host may see the files. */
export type UnseenHalt = Extract<Halt, { readonly kind: UnseenKind }>;

type Traits = typeof HALT_TRAITS;
type UnseenKind = { [K in keyof Traits]: Traits[K]['isUnseen'] extends true ? K : never }[keyof Traits];

/** Why a host of a cluster does not sync a source of its configuration. Stored as JSON with the host's heartbeat. */
export type Hindrance =
  /**
   * The host does not see the files. `unit`: the number of the source's unit; `halt`: the halt that the source would get on this
   * host; `no-files`: the directory is empty and none of its files is recorded.
   */
  | {
      readonly kind: 'unseen';
      readonly source: string;
      readonly unit: number;
      readonly halt: UnseenHalt | { readonly kind: 'no-files'; readonly directory: string };
    }
  /** The ledger has another configuration of the source. */
  | { readonly kind: 'differing'; readonly source: string; readonly fields: readonly FieldDifference[] };

export type Unseen = Extract<Hindrance, { readonly kind: 'unseen' }>;

export interface AbleHost {
  readonly name: string;
  /** See `HostNews`. */
  readonly units: readonly number[];
  readonly hindrances: readonly Hindrance[];
}

/** Returns whether a halt is caused by how this host sees a directory. */
export function isUnseen(halt: Halt): halt is UnseenHalt {
  return HALT_TRAITS[halt.kind].isUnseen;
}

/** Returns whether a host has a unit in its configuration and sees its directories. */
function sees(host: AbleHost, unit: number): boolean {
  return host.units.includes(unit) && seesIfTaken(host, unit);
}

function seesIfTaken({ hindrances }: AbleHost, unit: number): boolean {
  return !hindrances.some((one) => one.kind === 'unseen' && one.unit === unit);
}

/** Returns the hindrances to report. An empty directory is reported only if another host sees files in it. */
export function toldHindrances({ hindrances }: AbleHost, hosts: readonly AbleHost[]): Hindrance[] {
  return hindrances.filter(
    (one) =>
      one.kind === 'differing' || one.halt.kind !== 'no-files' || hosts.some((host) => sees(host, one.unit)),
  );
}

/**
 * Returns the name of a host that sees a unit's directories when this host does not; `null`: this host sees them, or no other
 * does.
 */
export function seeingInstead(hosts: readonly AbleHost[], me: string, unit: number): string | null {
  const isBlind = hosts.some((host) => host.name === me && !seesIfTaken(host, unit));
  const other = hosts.find((host) => host.name !== me && sees(host, unit));
  return isBlind ? (other?.name ?? null) : null;
}

/**
 * Returns the hosts that may get a unit: those that see its directories. If none does, all hosts that have it in their
 * configuration: one of them halts it, so that people can see and approve the halt.
 */
export function ableHosts<H extends AbleHost>(hosts: readonly H[], unit: number): H[] {
  const seeing = hosts.filter((host) => sees(host, unit));
  return seeing.length > 0 ? seeing : hosts.filter(({ units }) => units.includes(unit));
}

/** Validates a value from the database, which others may have written. */
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

/** A field that differs between the source's configurations on this host and in the ledger; `null`: absent. Values are JSON. */
export interface FieldDifference {
  /** Such as `keyPrefix` or `rules[0].set.index`. */
  readonly field: string;
  readonly here: string | null;
  readonly ledger: string | null;
}

/** Returns the fields in which two configurations of a source differ, as deep as possible. */
export function differencesOf(here: JsonObject, ledger: JsonObject): FieldDifference[] {
  return differences('', here, ledger);
}

function differences(
  field: string,
  here: JsonValue | undefined,
  ledger: JsonValue | undefined,
): FieldDifference[] {
  if (isNested(here) && isNested(ledger) && Array.isArray(here) === Array.isArray(ledger)) {
    const [a, b] = [here as JsonObject, ledger as JsonObject];
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.flatMap((name) => differences(fieldIn(field, name, Array.isArray(here)), a[name], b[name]));
  }
  const [ours, theirs] = [textOf(here), textOf(ledger)];
  return ours === theirs ? [] : [{ field, here: ours, ledger: theirs }];
}

function isNested(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

function fieldIn(field: string, name: string, isInList: boolean): string {
  if (isInList) return `${field}[${name}]`;
  return field === '' ? name : `${field}.${name}`;
}

function textOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Validates a value from the database, which others may have written. */
function isFieldDifference(value: unknown): value is FieldDifference {
  const { field, here, ledger } = (value ?? {}) as Partial<Record<keyof FieldDifference, unknown>>;
  const areTexts = [here, ledger].every((one) => one === null || typeof one === 'string');
  return typeof field === 'string' && areTexts;
}
