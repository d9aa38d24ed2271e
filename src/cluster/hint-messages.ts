import type { Hint, HintedPath, PathLook } from '../domain/hint.ts';
import { leadsBelow } from '../domain/key.ts';

/** The largest message, bytes: PostgreSQL accepts less than 8,000 (https://www.postgresql.org/docs/current/sql-notify.html). */
const LARGEST_BYTES = 7999;

export interface HintAddress {
  readonly schema: string;
  /** The host that noticed the change. */
  readonly host: string;
  readonly unit: number;
  readonly source: string;
}

/** Encodes a hint into as few messages as possible. A path that is too long for a message becomes a hint for everything. */
export function encodeHint(address: HintAddress, hint: Hint): string[] {
  const { schema, host, unit, source } = address;
  const messageOf = (paths: readonly string[] | null): string =>
    `${JSON.stringify({ schema, host, unit, source }).slice(0, -1)},"paths":${paths === null ? 'null' : `[${paths.join()}]`}}`;
  const everything = messageOf(null);
  // The names of host and source alone are too long for a message.
  if (sizeOf(everything) > LARGEST_BYTES) return [];
  if (hint.kind === 'everything') return [everything];
  // After the last path there is no comma.
  const room = LARGEST_BYTES - sizeOf(messageOf([])) + 1;
  const messages: string[] = [];
  let paths: string[] = [];
  let used = 0;
  for (const { path, look } of hint.paths) {
    const one = JSON.stringify([path, encodeLook(look)]);
    const size = sizeOf(one) + 1;
    if (size > room) return [everything];
    if (used + size > room) {
      messages.push(messageOf(paths));
      paths = [];
      used = 0;
    }
    paths.push(one);
    used += size;
  }
  return paths.length === 0 ? messages : [...messages, messageOf(paths)];
}

/**
 * Decodes a message. Any role of the database may send anything: a message that is not a hint gives `null`, and paths that leave
 * their source are dropped.
 */
export function decodeHint(message: string): (HintAddress & { readonly hint: Hint }) | null {
  let told: Partial<Record<keyof HintAddress | 'paths', unknown>> | null;
  try {
    told = JSON.parse(message) as typeof told;
  } catch {
    return null;
  }
  const { schema, host, unit, source, paths } = told ?? {};
  if (typeof schema !== 'string' || typeof host !== 'string') return null;
  if (typeof source !== 'string' || typeof unit !== 'number') return null;
  const address = { schema, host, unit, source };
  if (paths === null) return { ...address, hint: { kind: 'everything' } };
  if (!Array.isArray(paths)) return null;
  return { ...address, hint: { kind: 'paths', paths: paths.flatMap((one) => decodePath(one) ?? []) } };
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function encodeLook(look: PathLook): string {
  switch (look.kind) {
    case 'absent':
    case 'other':
      return look.kind;
    case 'file':
    case 'link':
      return `${look.kind} ${look.sizeBytes} ${look.mtimeNs}`;
    case 'directory':
      return `${look.kind} ${look.mtimeNs}`;
  }
}

/** The longest numbers have 64 bits. */
const LOOK = /^(?:(absent|other)|(file|link) (\d{1,20}) (-?\d{1,20})|directory (-?\d{1,20}))$/u;

function decodePath(told: unknown): HintedPath | null {
  const [path, written] = Array.isArray(told) ? (told as unknown[]) : [];
  if (typeof path !== 'string' || typeof written !== 'string' || !leadsBelow(path)) return null;
  const found = LOOK.exec(written);
  if (found === null) return null;
  const [, bare, kind, size = '', mtime = '', directoryMtime = ''] = found;
  if (bare !== undefined) return { path, look: { kind: bare as 'absent' | 'other' } };
  const look: PathLook =
    kind === undefined
      ? { kind: 'directory', mtimeNs: BigInt(directoryMtime) }
      : { kind: kind as 'file' | 'link', sizeBytes: BigInt(size), mtimeNs: BigInt(mtime) };
  return { path, look };
}
