import type { Ledger } from './ledger.ts';
import { digest, type RemoteFile, type StateRow } from './observe.ts';

/** Keys of somebody else's files, which no source gives. */
export const FOREIGN_PREFIX = 'foreign/';

/** One run of the command, killed or not. */
export interface Run {
  readonly mode: 'keep' | 'expire' | 'delete';
  /** The platform before and after. */
  readonly before: ReadonlyMap<string, RemoteFile>;
  readonly after: ReadonlyMap<string, RemoteFile>;
  /** The files of the source; `edited`: keys that were edited meanwhile. */
  readonly local: ReadonlyMap<string, Buffer>;
  readonly edited: ReadonlySet<string>;
  /** The state file after it. */
  readonly rows: ReadonlyMap<string, StateRow>;
  /** The keys of the upserts that arrived. */
  readonly upserts: readonly string[];
  /** The keys of the deletions that arrived. */
  readonly deletions: readonly string[];
  /** Keys that had an intent before it began, and no record that is safe. */
  readonly wasInDoubt: ReadonlySet<string>;
  /** Keys whose row was written to again after their last intent. */
  readonly settled: ReadonlySet<string>;
  /** What the state file owes after it. */
  readonly ledger: Ledger;
}

/** Throws the first promise that a run broke. */
export function checkRun(run: Run): void {
  foreignFilesAreUntouched(run);
  nothingIsErasedWithoutCause(run);
  nothingIsPutAwayThatIsThere(run);
  nothingIsDeletedThatIsThere(run);
  recordsClaimOnlyWhatIsThere(run);
  everyRequestHasItsIntent(run);
  noSafeRecordIsLost(run);
  nothingIsSentAgainForNothing(run);
}

function foreignFilesAreUntouched({ before, after, upserts, deletions }: Run): void {
  demand(![...upserts, ...deletions].some(isForeign), 'a request about a file of somebody else');
  for (const [key, file] of before)
    if (isForeign(key)) demand(isSame(file, after.get(key)), `a file of somebody else was touched: ${key}`);
}

/** In the mode `keep`, what is on the platform stays there; else only an upsert or a deletion erases a content. */
function nothingIsErasedWithoutCause({ mode, before, after, upserts, deletions }: Run): void {
  for (const [key, file] of before) {
    if (mode === 'keep') demand(after.has(key), `removed, in the mode "keep": ${key}`);
    if (isPutAway(file) || upserts.includes(key) || deletions.includes(key)) continue;
    // A body whose sender was killed may be taken in after the look at what was there before.
    const { sha256 } = file;
    demand(sha256 === null || after.get(key)?.sha256 === sha256, `erased without an upsert: ${key}`);
  }
}

function nothingIsPutAwayThatIsThere({ mode, before, after, local, edited }: Run): void {
  for (const [key, file] of after) {
    if (!isPutAway(file) || isSame(file, before.get(key))) continue;
    demand(mode === 'expire', `put away, in the mode "${mode}": ${key}`);
    demand(!local.has(key) || edited.has(key), `put away, though it is there: ${key}`);
  }
}

function nothingIsDeletedThatIsThere({ mode, deletions, local, edited }: Run): void {
  for (const key of deletions) {
    demand(mode === 'delete', `deleted, in the mode "${mode}": ${key}`);
    demand(!local.has(key) || edited.has(key), `deleted, though it is there: ${key}`);
  }
}

function recordsClaimOnlyWhatIsThere({ rows, after }: Run): void {
  for (const { key, state, sha256 } of rows.values()) {
    if (state !== 'synced') continue;
    const there = after.get(key)?.sha256 ?? null;
    demand(there !== null, `claims to be in sync, and is not there: ${key}`);
    demand(there === sha256, `claims other content than there is: ${key}`);
  }
}

function everyRequestHasItsIntent({ upserts, deletions, rows, settled }: Run): void {
  for (const key of [...upserts, ...deletions]) {
    if (settled.has(key)) continue;
    const state = rows.get(key)?.state ?? 'nothing';
    demand(state === 'sending' || state === 'removing', `a request without an intent, but ${state}: ${key}`);
  }
}

function noSafeRecordIsLost({ ledger, rows }: Run): void {
  for (const key of ledger.owed()) {
    const row = rows.get(key);
    // A removed one is dropped once it has expired.
    if (row === undefined || row.state === 'synced') continue;
    demand(row.state === 'removing' && row.expiresAtMs !== null, `a record is lost: ${key} is ${row.state}`);
  }
}

/** What the platform has is sent again only when its record was not safe yet. */
function nothingIsSentAgainForNothing({ upserts, before, local, edited, wasInDoubt }: Run): void {
  for (const key of new Set(upserts)) {
    const there = before.get(key);
    if (there === undefined || edited.has(key) || wasInDoubt.has(key)) continue;
    const bytes = local.get(key);
    const isThere =
      bytes === undefined ? isPutAway(there) : there.sha256 === digest(bytes) && !isPutAway(there);
    demand(!isThere, `sent again, though it is there and safely on record: ${key}`);
  }
}

/** How the mirror differs from the source; empty when it is exact. In the mode `keep` more may be there. */
export function differences({
  mode,
  after,
  local,
}: Pick<Run, 'mode' | 'after' | 'local'>): readonly string[] {
  const found: string[] = [];
  for (const [key, bytes] of local) {
    const there = after.get(key);
    if (there?.sha256 !== digest(bytes) || isPutAway(there)) found.push(`not as it should be: ${key}`);
  }
  for (const [key, file] of after) {
    const isWanted = local.has(key) || isForeign(key) || (mode === 'expire' && isPutAway(file));
    if (mode !== 'keep' && !isWanted) found.push(`left over: ${key}`);
  }
  return found;
}

/** An empty file that expires is how botsync removes where it does not delete. */
function isPutAway(file: RemoteFile): boolean {
  return file.sizeBytes === 0 && file.expiresAt !== null;
}

function isForeign(key: string): boolean {
  return key.startsWith(FOREIGN_PREFIX);
}

function isSame(one: RemoteFile, other: RemoteFile | undefined): boolean {
  return (
    one.updatedAt === other?.updatedAt && one.sha256 === other.sha256 && one.expiresAt === other.expiresAt
  );
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
