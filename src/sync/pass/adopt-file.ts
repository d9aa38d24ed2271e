import { standingOf, type Adoptable } from '../../domain/adoption.ts';
import { renewalTime } from '../../domain/expiry.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { toldOf } from '../../domain/settings.ts';
import type { RowId } from '../../store/file-reader.ts';
import { compareContent, type Comparison } from '../../files/compare-content.ts';
import { ADOPTED } from '../plan/outcome.ts';
import type { PlannedSend } from '../plan/plan-item.ts';
import type { Source } from '../sources/source.ts';
import { changeInPlace } from './change-in-place.ts';
import type { WalkContext } from './sync-context.ts';

/** A file of which nothing is on record, and what the platform has under its key. */
export interface AdoptionTask {
  readonly item: PlannedSend;
  readonly found: Adoptable;
  readonly source: Source;
  readonly id: RowId;
}

type Same = Extract<Comparison, { kind: 'same' }>;

/**
 * Takes over what the platform has, if it is the file that is here: recorded, where needed told what the rules say, and
 * reported. `false`: it is another, and is to be sent.
 */
export async function adoptFile(task: AdoptionTask, context: WalkContext): Promise<boolean> {
  const { item, found, source } = task;
  const { transfer, clock } = context;
  const compared = await transfer(() => compareContent(source, item.path, found.sha256, clock.now()), 0);
  if (compared.kind !== 'same') return false;
  // Another directory in the place of the source's says nothing of its files.
  if (!context.roots.isThereNow(source)) return false;
  const there = found.told === 'same' ? found.file : await changed(task, context);
  if (there === null) return false;
  record(task, compared, there, context);
  return true;
}

/** The file after it was told what the rules say; `null`: it takes the content, or could not be told. */
async function changed(
  { item, found, source, id }: AdoptionTask,
  context: WalkContext,
): Promise<ListedFile | null> {
  if (context.catalog?.serves(id.target, 'update') !== true) return null;
  const task = { item, source, target: id.target, remoteId: found.file.id, sha256: found.sha256, before: [] };
  const ended = await changeInPlace(task, context);
  return ended.kind === 'changed' ? ended.file : null;
}

function record(
  { item, found, source, id }: AdoptionTask,
  { fingerprint, trusted }: Same,
  there: ListedFile,
  { state, clock, summary, emit, confirmations }: WalkContext,
): void {
  const { settings, digest } = item.resolved;
  const { expiresAtMs } = there;
  const adopted = {
    source: source.config.name,
    path: item.path,
    fingerprint,
    trusted,
    settingsDigest: digest,
    sizeBytes: item.sizeBytes,
    sha256: found.sha256,
    remoteId: there.id,
    ...standingOf(there, { sizeBytes: item.sizeBytes, sha256: found.sha256 }, settings.index, clock.now()),
    expiresAtMs,
    renewAtMs: expiresAtMs === null ? null : renewalTime(settings.expiry, expiresAtMs),
  };
  state.remote.rememberSettings(digest, () => toldOf(settings));
  state.remote.recordAdopted(id, adopted, clock.now());
  // Of most the platform has said their status: there is nothing to ask.
  if (adopted.askAtMs !== null) confirmations?.noteSent();
  const { kind, counts, reason } = ADOPTED;
  summary[counts] += 1;
  emit({ kind: 'sent', bytes: 0 });
  emit({
    kind: 'file',
    file: {
      kind,
      source: source.config.name,
      path: item.path,
      key: item.key,
      reason,
      outcome: 'done',
    },
  });
}
