import { lstatSync } from 'node:fs';
import type { PlatformFailure } from '../domain/failure.ts';
import { removalExpiry } from '../domain/expiry.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../domain/guard.ts';
import type { UpsertBody } from '../domain/limits.ts';
import type { FileRecord } from '../domain/record.ts';
import { retryDelayMs } from '../domain/retry-delay.ts';
import type { PassContext } from './pass-context.ts';
import type { Source } from './source.ts';

/**
 * Removes from the platform what was removed from a source, after all uploads of the pass: a renamed file is there
 * under its new key before it goes under the old one.
 *
 * The interface has no delete. The key is taken over by an empty file that expires in two minutes.
 *
 * @returns the halt when there are too many, and nothing was removed.
 */
export async function removeMissing(
  source: Source,
  target: number,
  context: PassContext,
  allowed: boolean,
): Promise<Halt | null> {
  const { state, clock, config, summary, stop } = context;
  const name = source.config.name;
  const { present, removed } = state.countRecorded(target, name);
  const recent = state.countRemovals(name, clock.now() - REMOVAL_WINDOW_MS);
  const halt = guardRemovals(removed, recent, present + removed + recent, config.removals);
  if (halt !== null && !allowed) {
    summary.kept += removed;
    return halt;
  }
  for (let page = state.removalsDue(target, name, ''); page.length > 0;) {
    for (const record of page) {
      if (stop.aborted || context.blockade.reasonAgainst(source.config.botId, false) !== null)
        summary.pending += 1;
      else await remove(source, target, record, context);
    }
    page = state.removalsDue(target, name, page.at(-1)?.path ?? '');
  }
  return null;
}

async function remove(
  source: Source,
  target: number,
  record: FileRecord,
  context: PassContext,
): Promise<void> {
  const { state, clock, report, summary } = context;
  const id = { target, key: record.key };
  if (lstatSync(`${source.root}/${record.path}`, { throwIfNoEntry: false }) !== undefined) {
    summary.kept += 1;
    return;
  }
  await state.beginRemoving(id, clock.now());
  const event = {
    kind: 'remove',
    source: source.config.name,
    path: record.path,
    key: record.key,
    reason: 'removed',
  } as const;
  const ended = await putAway(source.config.botId, record, context);
  if (ended.kind === 'removed') {
    state.recordRemoved(id, source.config.name, ended.expiresAtMs, clock.now());
    summary.removed += 1;
    report.event({ ...event, outcome: 'done' });
  } else {
    context.blockade.note(ended.failure, source.config.botId);
    summary.failed += 1;
    report.event({ ...event, outcome: 'failed', error: ended.failure.message });
  }
}

type PutAway =
  | { readonly kind: 'removed'; readonly expiresAtMs: number }
  | { readonly kind: 'failed'; readonly failure: PlatformFailure };

async function putAway(botId: string, record: FileRecord, context: PassContext): Promise<PutAway> {
  const { platform, config, clock, random, stop } = context;
  for (let attempt = 1; ; attempt++) {
    const expiresAtMs = removalExpiry(platform.now());
    const failure = await attemptToPutAway(botId, removalBody(record, expiresAtMs), context);
    if (failure === null) return { kind: 'removed', expiresAtMs };
    if (failure.kind !== 'transient' || attempt >= config.upload.attempts || stop.aborted)
      return { kind: 'failed', failure };
    await clock.sleep(retryDelayMs(attempt, random(), failure.retryAfterMs), stop);
  }
}

async function attemptToPutAway(
  botId: string,
  body: UpsertBody,
  { platform, abort }: PassContext,
): Promise<PlatformFailure | null> {
  const upserted = await platform.upsert(botId, body, abort);
  if (upserted.kind === 'failed') return upserted.failure;
  const uploaded = await platform.upload(
    upserted.value,
    { kind: 'whole', bytes: Buffer.alloc(0) },
    false,
    abort,
  );
  return uploaded.kind === 'failed' ? uploaded.failure : null;
}

function removalBody({ key }: FileRecord, expiresAtMs: number): UpsertBody {
  return {
    key,
    size: 0,
    index: false,
    tags: {},
    metadata: {},
    accessPolicies: [],
    contentType: 'application/octet-stream',
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}
