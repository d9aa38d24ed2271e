import type { FileEvent } from '../../src/domain/report.ts';
import type { RecordedRequest } from '../../src/emulator/request-log.ts';
import type { Verdict } from '../../src/domain/record.ts';
import { idOf, type Expectation, type Model, type ModelSource } from './model.ts';
import { NOBODY, type Others } from './others.ts';
import type { Expected } from './rule-sets.ts';
import type { Found } from './verification.ts';
import { digest, FOREIGN_PREFIX, type Observation, type RemoteFile } from './observe.ts';

/** What the platform's time may be off by while botsync reckons it from whole seconds, milliseconds. */
const NOISE_MS = 3000;

/** What happened between two observations. */
export interface Span {
  readonly model: Model;
  readonly before: Observation;
  readonly after: Observation;
  readonly events: readonly FileEvent[];
  readonly requests: readonly RecordedRequest[];
  /** Whether the platform failed meanwhile, as far as the tests had it fail. */
  readonly isFaulty: boolean;
  /** Whether our clock goes wrong: before the first answer botsync takes it for the platform's. */
  readonly isSkewed: boolean;
  /** By `idOf`: what the rules said of a file when the platform was told of it last. Brought up to date here. */
  readonly sentAs: Map<string, string>;
  readonly others: Others;
  /** Whether the state file was lost just before, and the platform may be asked what it has. */
  readonly isAdopting: boolean;
  /** Whether lists show what was there before. */
  readonly isListLagging: boolean;
  /** Whether the platform takes changes in place, as far as botsync knows. */
  readonly takesChanges: boolean;
  /** The fingerprint of a file on disk; `null`: there is none. */
  readonly fingerprint: (source: ModelSource, path: string) => string | null;
}

/** Throws the first invariant that a span breaks. */
export function checkSpan(span: Span): void {
  foreignFilesAreUntouched(span.before, span.after, span.requests);
  nothingIsPutAwayThatIsThere(span);
  nothingIsErasedWithoutCause(span);
  noteWhatWasDoubtful(span);
  recordsClaimOnlyWhatIsThere(span.after, span.others);
  verdictsAreTrue(span.after, span.others);
  noRequestIsInvalid(span);
  nothingIsSentThatIsThere(span);
  noContentIsSentThatIsConfirmed(span);
  nothingIsSentThatWasThereBefore(span);
  noteWhatWasSent(span);
}

/** What somebody else put on the platform stays as it is, and nobody asks about it. */
export function foreignFilesAreUntouched(
  before: Observation,
  after: Observation,
  requests: readonly RecordedRequest[],
): void {
  for (const [id, file] of before.platform) {
    if (!file.key.startsWith(FOREIGN_PREFIX)) continue;
    require(same(after.platform.get(id), file), `a file of somebody else was touched: ${id}`);
  }
  const isForeign = ({ key }: RecordedRequest): boolean => key?.startsWith(FOREIGN_PREFIX) === true;
  require(!requests.some(isForeign), 'a request about a file of somebody else');
}

/** An empty file that expires within minutes is how botsync removes. */
export function isPutAway(file: RemoteFile, atMs: number): boolean {
  return file.sizeBytes === 0 && file.expiresAtMs !== null && file.expiresAtMs - atMs <= 4 * 60_000;
}

function nothingIsPutAwayThatIsThere({ model, before, after }: Span): void {
  for (const [id, file] of after.platform) {
    if (!isPutAway(file, Date.parse(file.updatedAt)) || same(before.platform.get(id), file)) continue;
    require(model.mayPutAway(file.botId, file.key), `put away, though it was not removed: ${id}`);
  }
}

function nothingIsErasedWithoutCause({ model, before, after, requests, isFaulty, others }: Span): void {
  const asked = (wanted: string): ReadonlySet<string> =>
    new Set(
      requests.flatMap(({ operation, key, botId }) =>
        operation === wanted ? [idOf(botId ?? '', key ?? '')] : [],
      ),
    );
  const upserted = asked('upsert');
  const deleted = asked('delete-file');
  for (const [id, file] of before.platform) {
    if (file.content === null || (file.expiresAtMs !== null && file.expiresAtMs <= after.atMs)) continue;
    const now = after.platform.get(id);
    if (now !== undefined && now.content === file.content) continue;
    if (now === undefined && deleted.has(id)) {
      require(others.contentOf(id) !== file.content, `somebody else's file was deleted: ${id}`);
      require(model.mayPutAway(file.botId, file.key), `deleted, though it was not removed: ${id}`);
      continue;
    }
    require(upserted.has(id), `other content without a request: ${id}`);
    if (isFaulty || now?.content !== null) continue;
    require(model.mayPutAway(file.botId, file.key), `erased and not sent: ${id}`);
  }
}

/** Holds at any moment, with a daemon under way as well: its records may be late, never early. */
export function recordsClaimOnlyWhatIsThere(
  { rows, platform, atMs }: Observation,
  others: Others = NOBODY,
): void {
  for (const [id, row] of rows) {
    if (row.state !== 'synced' || (row.expiresAtMs !== null && row.expiresAtMs <= atMs)) continue;
    const isLost = row.verdict === null && platform.get(id)?.status === 'upload_failed';
    if (isLost || others.mayDiffer(id)) continue;
    const content = platform.get(id)?.content ?? null;
    require(content !== null, `claims to be in sync, and is not there: ${id}`);
    const isClaimed = row.sha256?.toString('hex') === digest(content as string);
    require(isClaimed, `claims other content than there is: ${id}`);
    const expiresAtMs = platform.get(id)?.expiresAtMs ?? null;
    // It may have been told otherwise in place, and nothing is known of how that ended.
    if (row.changing !== null) continue;
    require(row.expiresAtMs === expiresAtMs, `claims another expiry than there is: ${id}`);
  }
}

/** What stands in a record as the platform's word is what the platform says, or said before it began anew. */
export function verdictsAreTrue({ rows, platform, atMs }: Observation, others: Others): void {
  for (const [id, row] of rows) {
    if (row.state !== 'synced' || (row.expiresAtMs !== null && row.expiresAtMs <= atMs)) continue;
    if (row.verdict === null || others.mayDiffer(id)) continue;
    const said = `${platform.get(id)?.status ?? 'nothing'}, ${platform.get(id)?.index === true ? '' : 'not '}indexed`;
    require(TRUE_WORDS[row.verdict].includes(said), `claims to be ${row.verdict}, and is ${said}: ${id}`);
  }
}

/** What a file may be like now of which the platform once said that. */
const TRUE_WORDS: Record<Verdict, readonly string[]> = {
  stored: ['upload_completed, not indexed', 'upload_pending, not indexed'],
  searchable: ['indexing_completed, indexed', 'indexing_pending, indexed'],
  unsearchable: ['indexing_failed, indexed', 'indexing_pending, indexed'],
};

/** A list that lags behind may have shown what was there before the state file was lost. */
function noteWhatWasDoubtful({ before, after, others, isListLagging }: Span): void {
  if (!isListLagging) return;
  for (const id of after.rows.keys()) if (!before.rows.has(id)) others.doubt(id);
}

function noRequestIsInvalid({ model, requests, isFaulty, isSkewed }: Span): void {
  if (isFaulty) return;
  const { expectations } = snapshotOf(model);
  for (const { status, key, botId, operation } of requests) {
    // What has expired, or never got there, is asked for in vain before it is deleted.
    if (status === 200 || (operation === 'get-file' && status === 404)) continue;
    // What others deleted cannot be changed in place.
    if (operation === 'update-file' && status === 404) continue;
    const expected = expectations.get(idOf(botId ?? '', key ?? ''))?.expected;
    const dependsOnTime = expected?.kind === 'mirrored' && expected.expiry.kind !== 'none';
    require(isSkewed &&
      (dependsOnTime ||
        expected === undefined), `${operation} of ${key ?? ''} answered ${status ?? 'nothing'}`);
  }
}

/** No request for what is on the platform already, as the record knows. */
function nothingIsSentThatIsThere({ model, before, after, requests, sentAs, isSkewed, others }: Span): void {
  const { expectations } = snapshotOf(model);
  for (const { operation, key, botId } of requests) {
    const id = idOf(botId ?? '', key ?? '');
    const one = expectations.get(id);
    const row = before.rows.get(id);
    const remote = before.platform.get(id);
    if (operation !== 'upsert' && operation !== 'update-file') continue;
    if (one === undefined || row?.state !== 'synced' || remote === undefined) continue;
    if (others.mayDiffer(id) || row.differs !== null || row.changing !== null) continue;
    if (remote.content !== one.file.content || sentAs.get(id) !== JSON.stringify(one.expected)) continue;
    const { expected } = one;
    const mayBeDue =
      expected.kind === 'mirrored' &&
      expected.expiry.kind === 'renewed' &&
      remote.expiresAtMs !== null &&
      (isSkewed || remote.expiresAtMs - expected.expiry.beforeMs <= after.atMs + NOISE_MS);
    require(mayBeDue, `sent again without need: ${id}`);
  }
}

/** No content for what can be told without it, once the platform has said that it has the content. */
function noContentIsSentThatIsConfirmed(span: Span): void {
  const { model, before, requests, sentAs, isFaulty, isSkewed, takesChanges, others, fingerprint } = span;
  if (isFaulty || isSkewed || !takesChanges) return;
  const { expectations } = snapshotOf(model);
  for (const { operation, key, botId } of requests) {
    const id = idOf(botId ?? '', key ?? '');
    const one = expectations.get(id);
    const row = before.rows.get(id);
    const remote = before.platform.get(id);
    const told = sentAs.get(id);
    if (operation !== 'upsert' || one === undefined || told === undefined || others.mayDiffer(id)) continue;
    if (row?.state !== 'synced' || !row.trusted || (row.verdict !== 'stored' && row.verdict !== 'searchable'))
      continue;
    const isSame =
      remote?.content === one.file.content && row.fingerprint === fingerprint(one.source, one.file.path);
    const needs = (expected: Expected): string =>
      expected.kind === 'mirrored' ? `${expected.index} ${expected.contentType ?? ''}` : expected.kind;
    const mayNeedContent = row.differs === 'content' || row.differs === 'replaced';
    if (!isSame || mayNeedContent || needs(JSON.parse(told) as Expected) !== needs(one.expected)) continue;
    require(false, `content sent for a change that takes none: ${id}`);
  }
}

/** After the state file was lost nothing is sent that the platform has, marked and with the right facts. */
function nothingIsSentThatWasThereBefore({
  model,
  before,
  requests,
  isFaulty,
  isSkewed,
  isAdopting,
}: Span): void {
  if (!isAdopting || isFaulty || isSkewed) return;
  const { expectations } = snapshotOf(model);
  for (const { operation, key, botId } of requests) {
    const id = idOf(botId ?? '', key ?? '');
    const one = expectations.get(id);
    const there = before.platform.get(id);
    if (operation !== 'upsert' || one?.expected.kind !== 'mirrored' || there === undefined) continue;
    const { index, contentType } = one.expected;
    const isSame = there.content === one.file.content && there.mark === digest(one.file.content);
    const isRight = there.index === index && contentType === null && there.contentType !== 'text/x-c';
    const isThere = there.status !== 'upload_pending';
    require(!isSame || !isRight || !isThere, `sent again, though the platform has it: ${id}`);
  }
}

function noteWhatWasSent({ model, before, after, requests, sentAs, others }: Span): void {
  const { expectations } = snapshotOf(model);
  const told = new Set<string>();
  for (const { operation, key, botId } of requests) {
    const id = idOf(botId ?? '', key ?? '');
    if (operation === 'upsert') others.noteSent(id);
    if (operation === 'upsert' || operation === 'update-file') told.add(id);
  }
  for (const id of after.rows.keys()) if (!before.rows.has(id)) told.add(id);
  for (const id of told) {
    const one = expectations.get(id);
    const row = after.rows.get(id);
    if (one === undefined || row?.state !== 'synced' || row.changing !== null) sentAs.delete(id);
    else sentAs.set(id, JSON.stringify(one.expected));
  }
}

function snapshotOf(model: Model): { expectations: Map<string, Expectation> } {
  const expectations = new Map<string, Expectation>();
  for (const one of model.expectations())
    if (
      one.claim === 'owner' ||
      !expectations.has(idOf(one.botId, one.key)) ||
      one.expected.kind === 'mirrored'
    )
      if (expectations.get(idOf(one.botId, one.key))?.expected.kind !== 'mirrored')
        expectations.set(idOf(one.botId, one.key), one);
  return { expectations };
}

/** Whether the platform holds a file as it is here, under the settings that the rules give it. */
export function isMirrored(
  { file, expected, botId, key }: Expectation,
  { platform, rows, atMs }: Observation,
  others: Others,
): boolean {
  const id = idOf(botId, key);
  const remote = platform.get(id);
  if (expected.kind !== 'mirrored') return false;
  const { expiry, index, tags, metadata, contentType } = expected;
  const isExpired = expiry.kind === 'let-expire' || (expiry.kind === 'at' && expiry.atMs <= atMs);
  if (remote === undefined && isExpired) {
    const row = rows.get(id);
    return (
      row?.state === 'synced' &&
      row.expiresAtMs !== null &&
      row.expiresAtMs <= atMs &&
      row.sha256?.toString('hex') === digest(file.content)
    );
  }
  if (remote?.content !== file.content || remote.index !== index) return false;
  const isTold = others.mayHaveMore(id) ? hasAll : same;
  if (!isTold(remote.tags, tags) || !isTold(remote.metadata, metadata)) return false;
  if (contentType !== null && remote.contentType !== contentType) return false;
  switch (expiry.kind) {
    case 'none':
      return remote.expiresAtMs === null;
    case 'renewed':
      return remote.expiresAtMs !== null && remote.expiresAtMs - expiry.beforeMs > atMs - NOISE_MS;
    case 'let-expire':
      return remote.expiresAtMs !== null;
    case 'at':
      return remote.expiresAtMs === Math.floor(expiry.atMs / 60_000) * 60_000;
  }
}

/** What was told of one place: by an event of the last pass, or by the status. */
export type Told = (source: string, path: string) => string | null;

/** The last state of a run: faults are over, time was given. Throws the first difference that nobody was told of. */
export function checkEnd(
  model: Model,
  end: Observation,
  told: Told,
  mayBeRefused: boolean,
  others: Others = NOBODY,
): void {
  const wanted = new Set<string>();
  for (const one of model.expectations()) {
    const { source, file, botId, key, expected, claim } = one;
    const id = idOf(botId, key);
    wanted.add(id);
    const what = told(source.name, file.path);
    const where = `${source.name}:${file.path} as ${id}`;
    switch (claim) {
      case 'behind':
        require(what?.includes('gives the same key') === true, `no word of the key it lost: ${where}`);
        break;
      case 'contested':
        require(what !== null || isMirrored(one, end, others), `neither mirrored nor told: ${where}`);
        break;
      case 'owner':
        switch (expected.kind) {
          case 'skipped':
          case 'refused':
            require(what !== null, `no word of what was ${expected.kind}: ${where}`);
            break;
          case 'mirrored': {
            if (isMirrored(one, end, others)) break;
            const isOutOfRange = expected.expiry.kind === 'at' && /expiresAt/u.test(what ?? '');
            const isRefused = mayBeRefused && /refused before|scripted fault|answered 4/u.test(what ?? '');
            // What others put there is theirs, and told.
            const isTheirs = others.contentOf(id) !== null && /somebody|another|replaced/u.test(what ?? '');
            require(isOutOfRange ||
              isRefused ||
              isTheirs, `not mirrored: ${where}; told: ${what ?? 'nothing'}`);
            break;
          }
        }
    }
  }
  for (const [id, file] of end.platform) {
    if (wanted.has(id) || file.key.startsWith(FOREIGN_PREFIX)) continue;
    if (others.isForgotten(id) || others.contentOf(id) === file.content) continue;
    require(end.rows.has(id), `left over, and nobody knows: ${id}`);
    const row = end.rows.get(id);
    const source = model.settings.sources.find(
      ({ name, botId }) => name === row?.source && botId === file.botId,
    );
    if (row === undefined || source === undefined || model.settings.removals === 'keep') continue;
    if (!model.walk(source).isComplete || !model.wasRemoved(source, row.path)) continue;
    const isOwn = (source.keyPrefix + row.path).normalize('NFC') === file.key;
    require(!isOwn, `removed here, still there: ${id}`);
  }
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one, sortedFields) === JSON.stringify(other, sortedFields);
}

/** Whether an object has all that another has. */
function hasAll(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(other).every(([name, value]) => same(one[name], value));
}

function sortedFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function require(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** What a verification finds is what others did, or what the records say already, and of that it finds everything. */
export function checkVerification(found: readonly Found[], before: Observation, others: Others): void {
  for (const { id, reason, detail } of found) {
    const isKnown =
      reason === 'failed' || reason === 'unsent' || reason === 'pending' || others.isForgotten(id);
    const isLost = before.platform.get(id)?.status === 'upload_failed';
    require(isKnown ||
      isLost ||
      others.mayDiffer(id), `found to differ, though nobody changed it: ${id}: ${detail}`);
  }
  const ids = new Set(found.map(({ id }) => id));
  for (const [id, { state, sha256, absence, expiresAtMs }] of before.rows) {
    const isOver = expiresAtMs !== null && expiresAtMs <= before.atMs;
    if (state !== 'synced' || absence !== null || isOver || !others.mayDiffer(id)) continue;
    const content = before.platform.get(id)?.content ?? null;
    const isThere = content !== null && digest(content) === sha256?.toString('hex');
    require(isThere || ids.has(id), `not found to differ: ${id}`);
  }
}
