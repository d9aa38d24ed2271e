import type { RecordedRequest } from '../../src/emulator/request-log.ts';
import type { FileEvent } from '../../src/domain/report.ts';
import { demand } from './demand.ts';
import { idOf, type Expectation, type Model, type ModelSource } from './model.ts';
import { digest, type Observation } from './observe.ts';
import type { Others } from './others.ts';
import type { Expected } from './rule-sets.ts';

/** What the platform's time may be off by while botsync reckons it from whole seconds, milliseconds. */
export const NOISE_MS = 3000;

/** A content that was sent is on the way to being stored for no longer than this, milliseconds. */
const LONGEST_PENDING_MS = 600_000;

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

/** No request is one that the platform refuses. */
export function noRequestIsInvalid({ model, requests, isFaulty, isSkewed }: Span): void {
  if (isFaulty) return;
  const { expectations } = snapshotOf(model);
  for (const { status, key, botId, operation } of requests) {
    // What has expired, or never got there, is asked for in vain before it is deleted.
    if (status === 200 || (operation === 'get-file' && status === 404)) continue;
    // What others deleted cannot be changed in place.
    if (operation === 'update-file' && status === 404) continue;
    const expected = expectations.get(idOf(botId ?? '', key ?? ''))?.expected;
    const dependsOnTime = expected?.kind === 'mirrored' && expected.expiry.kind !== 'none';
    demand(
      isSkewed && (dependsOnTime || expected === undefined),
      `${operation} of ${key ?? ''} answered ${status ?? 'nothing'}`,
    );
  }
}

/** No request for what is on the platform already, as the record knows. */
export function nothingIsSentThatIsThere({
  model,
  before,
  after,
  requests,
  sentAs,
  isSkewed,
  others,
}: Span): void {
  const { expectations } = snapshotOf(model);
  for (const { operation, key, botId } of requests) {
    const id = idOf(botId ?? '', key ?? '');
    const one = expectations.get(id);
    const row = before.rows.get(id);
    const remote = before.platform.get(id);
    if (operation !== 'upsert' && operation !== 'update-file') continue;
    if (one === undefined || row?.state !== 'synced' || remote === undefined) continue;
    if (others.mayDiffer(id) || row.differs !== null || row.changing !== null) continue;
    // What the platform has not stored for so long is lost.
    const isLost = isSkewed || after.atMs - row.changedAtMs > LONGEST_PENDING_MS;
    if (remote.status === 'upload_pending' && isLost) continue;
    if (remote.content !== one.file.content || sentAs.get(id) !== JSON.stringify(one.expected)) continue;
    const { expected } = one;
    const mayBeDue =
      expected.kind === 'mirrored' &&
      expected.expiry.kind === 'renewed' &&
      remote.expiresAtMs !== null &&
      (isSkewed || remote.expiresAtMs - expected.expiry.beforeMs <= after.atMs + NOISE_MS);
    demand(mayBeDue, `sent again without need: ${id}`);
  }
}

/** No content for what can be told without it, once the platform has said that it has the content. */
export function noContentIsSentThatIsConfirmed(span: Span): void {
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
    demand(false, `content sent for a change that takes none: ${id}`);
  }
}

/** After the state file was lost nothing is sent that the platform has, marked and with the right facts. */
export function nothingIsSentThatWasThereBefore({
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
    demand(!isSame || !isRight || !isThere, `sent again, though the platform has it: ${id}`);
  }
}

/** Remembers what the platform was told by these requests. */
export function noteWhatWasSent({ model, before, after, requests, sentAs, others }: Span): void {
  const { expectations } = snapshotOf(model);
  const told = new Set<string>();
  for (const { operation, key, botId, status } of requests) {
    const id = idOf(botId ?? '', key ?? '');
    const isRefused = status !== null && status >= 400 && status < 500;
    if (operation === 'upsert' && !isRefused) others.noteSent(id);
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
