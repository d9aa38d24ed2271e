import { isAskedFor, type Verdict } from '../../src/domain/record.ts';
import type { RecordedRequest } from '../../src/emulator/request-log.ts';
import { demand } from './demand.ts';
import { idOf, type Expectation, type Model } from './model.ts';
import { digest, FOREIGN_PREFIX, type Observation, type RemoteFile } from './observe.ts';
import { NOBODY, type Others } from './others.ts';
import {
  noContentIsSentThatIsConfirmed,
  NOISE_MS,
  noRequestIsInvalid,
  noteWhatWasSent,
  nothingIsSentThatIsThere,
  nothingIsSentThatWasThereBefore,
  type Span,
} from './sending.ts';

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
    // Its status is the platform's affair.
    const { status } = file;
    demand(same({ ...after.platform.get(id), status }, file), `a file of somebody else was touched: ${id}`);
  }
  const isForeign = ({ key }: RecordedRequest): boolean => key?.startsWith(FOREIGN_PREFIX) === true;
  demand(!requests.some(isForeign), 'a request about a file of somebody else');
}

/** An empty file that expires within minutes is how botsync removes. */
export function isPutAway(file: RemoteFile, atMs: number): boolean {
  return file.sizeBytes === 0 && file.expiresAtMs !== null && file.expiresAtMs - atMs <= 4 * 60_000;
}

/** Whether a file may be removed from the platform: what was kept stays until somebody prunes it. */
function mayGo(
  id: string,
  { botId, key }: Pick<RemoteFile, 'botId' | 'key'>,
  { model, before }: Pick<Span, 'model' | 'before'>,
): boolean {
  const absence = before.rows.get(id)?.absence ?? null;
  if (isAskedFor(absence)) return model.mayPrune(botId, key);
  return absence !== 'kept' && model.mayPutAway(botId, key);
}

function nothingIsPutAwayThatIsThere(span: Span): void {
  const { before, after } = span;
  for (const [id, file] of after.platform) {
    if (!isPutAway(file, Date.parse(file.updatedAt)) || same(before.platform.get(id), file)) continue;
    demand(mayGo(id, file, span), `put away, though it was not removed: ${id}`);
  }
}

function nothingIsErasedWithoutCause(span: Span): void {
  const { before, after, requests, isFaulty, others } = span;
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
      demand(others.contentOf(id) !== file.content, `somebody else's file was deleted: ${id}`);
      demand(mayGo(id, file, span), `deleted, though it was not removed: ${id}`);
      continue;
    }
    demand(upserted.has(id), `other content without a request: ${id}`);
    if (isFaulty || now?.content !== null) continue;
    demand(mayGo(id, file, span), `erased and not sent: ${id}`);
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
    // What is kept, or known to differ, is not claimed to be in sync: others may delete it.
    if (isLost || row.absence !== null || row.differs !== null || others.mayDiffer(id)) continue;
    const content = platform.get(id)?.content ?? null;
    demand(content !== null, `claims to be in sync, and is not there: ${id}`);
    const isClaimed = row.sha256?.toString('hex') === digest(content as string);
    demand(isClaimed, `claims other content than there is: ${id}`);
    const expiresAtMs = platform.get(id)?.expiresAtMs ?? null;
    // It may have been told otherwise in place, and nothing is known of how that ended.
    if (row.changing !== null) continue;
    demand(row.expiresAtMs === expiresAtMs, `claims another expiry than there is: ${id}`);
  }
}

/** What stands in a record as the platform's word is what the platform says, or said before it began anew. */
export function verdictsAreTrue({ rows, platform, atMs }: Observation, others: Others): void {
  for (const [id, row] of rows) {
    if (row.state !== 'synced' || (row.expiresAtMs !== null && row.expiresAtMs <= atMs)) continue;
    if (row.verdict === null || row.absence !== null || row.differs !== null || others.mayDiffer(id))
      continue;
    const said = `${platform.get(id)?.status ?? 'nothing'}, ${platform.get(id)?.index === true ? '' : 'not '}indexed`;
    demand(TRUE_WORDS[row.verdict].includes(said), `claims to be ${row.verdict}, and is ${said}: ${id}`);
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
        // A file that is refused for what it is does not ask for its key.
        if (expected.kind === 'mirrored')
          demand(what?.includes('has the same key') === true, `no word of the key it lost: ${where}`);
        else demand(what !== null, `no word of what was ${expected.kind}: ${where}`);
        break;
      case 'contested':
        demand(what !== null || isMirrored(one, end, others), `neither mirrored nor told: ${where}`);
        break;
      case 'owner':
        switch (expected.kind) {
          case 'skipped':
          case 'refused':
            demand(what !== null, `no word of what was ${expected.kind}: ${where}`);
            break;
          case 'mirrored': {
            // Where the platform is not asked what it has, nobody learns what others did.
            if (isMirrored(one, end, others) || others.mayDiffer(id)) break;
            const isOutOfRange = expected.expiry.kind === 'at' && /expiresAt/u.test(what ?? '');
            const isRefused = mayBeRefused && /refused before|scripted fault|answered 4/u.test(what ?? '');
            // What others put there is theirs, and told.
            const isTheirs = others.contentOf(id) !== null && /somebody|another|replaced/u.test(what ?? '');
            demand(
              isOutOfRange || isRefused || isTheirs,
              `not mirrored: ${where}; told: ${what ?? 'nothing'}`,
            );
            break;
          }
        }
    }
  }
  for (const [id, file] of end.platform) {
    if (wanted.has(id) || file.key.startsWith(FOREIGN_PREFIX)) continue;
    if (others.isForgotten(id) || others.contentOf(id) === file.content) continue;
    demand(end.rows.has(id), `left over, and nobody knows: ${id}`);
    const row = end.rows.get(id);
    const source = model.settings.sources.find(
      ({ name, botId }) => name === row?.source && botId === file.botId,
    );
    if (row === undefined || source === undefined || model.settings.removals === 'keep') continue;
    // An empty file in its place expires, by a clock that may be days ahead.
    if (row.state === 'removing' && file.sizeBytes === 0) continue;
    if (row.absence === 'kept' || !model.walk(source).isComplete || !model.wasRemoved(source, row.path))
      continue;
    const isOwn = (source.keyPrefix + row.path).normalize('NFC') === file.key;
    demand(!isOwn, `removed here, still there: ${id}`);
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
