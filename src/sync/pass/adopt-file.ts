import { verdictOnContent, type Adoptable } from '../../domain/adoption.ts';
import { renewalTime } from '../../domain/expiry.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { sentSettingsOf } from '../../domain/settings.ts';
import type { RowId } from '../../store/file-reader.ts';
import { compareContent, type Comparison } from '../../files/compare-content.ts';
import { ADOPTED } from '../plan/outcome.ts';
import type { PlannedSend } from '../plan/plan-item.ts';
import type { Source } from '../sources/source.ts';
import { changeInPlace } from './change-in-place.ts';
import type { WalkContext } from './sync-context.ts';

/** A file without a record, and the platform's file with the same key. */
export interface AdoptionTask {
  readonly item: PlannedSend;
  readonly found: Adoptable;
  readonly source: Source;
  readonly id: RowId;
}

type Same = Extract<Comparison, { kind: 'same' }>;

/**
 * Adopts the platform's file if its content is the same: updates its settings where needed, records and reports it.
 * Returns `false` if the file must be sent instead.
 */
export async function adoptFile(task: AdoptionTask, context: WalkContext): Promise<boolean> {
  const { item, found, source } = task;
  const { transfer, clock } = context;
  const compared = await transfer(() => compareContent(source, item.path, found.sha256, clock.now()), 0);
  if (compared.kind !== 'same') return false;
  // A directory that replaced the source's proves nothing about its files.
  if (!context.roots.isThereNow(source)) return false;
  const there = found.told === 'same' ? found.file : await changed(task, context);
  if (there === null) return false;
  record(task, compared, there, context);
  return true;
}

/**
 * Updates the settings of the platform's file. Returns `null` if that is impossible or failed, so that the content must
 * be sent.
 */
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
    ...verdictOnContent(
      there,
      { sizeBytes: item.sizeBytes, sha256: found.sha256 },
      settings.index,
      clock.now(),
    ),
    expiresAtMs,
    renewAtMs: expiresAtMs === null ? null : renewalTime(settings.expiry, expiresAtMs),
  };
  state.remote.rememberSettings(digest, () => sentSettingsOf(settings));
  state.remote.recordAdopted(id, adopted, clock.now());
  // The platform has already reported the status of most: these are not asked about.
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
