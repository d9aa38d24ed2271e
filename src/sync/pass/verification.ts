import type { Config } from '../../config/config.ts';
import type { FileKey } from '../../domain/key.ts';
import { ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import type { Disk } from '../../files/disk.ts';
import type { FoundFile } from '../../store/remote.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { FileDifference } from '../catalog/compare.ts';
import { verify, type VerifyInput } from '../plan/verify.ts';
import { type Verified } from '../../domain/status.ts';
import { findSources, targetOf, type FoundSource } from '../sources/source.ts';

export interface VerificationInput extends Omit<
  VerifyInput,
  'at' | 'sources' | 'isBusy' | 'onDifference' | 'onSame'
> {
  readonly config: Config;
  readonly platformName: string;
  readonly isBusy: (id: RowId) => boolean;
  readonly disk?: Disk;
  readonly onDifference: (difference: FileDifference, target: number) => void;
  readonly onSame: (sent: FileRecord, found: FoundFile, target: number) => void;
}

function emptyVerified(): Verified {
  return { compared: 0, same: 0, foreign: 0, busy: 0, unread: 0, reasons: {} };
}

/**
 * Compares the files of each bot with what was sent to it, one bot after the other, and adds up the counts. Stops at
 * the first bot that cannot be compared. Changes nothing.
 *
 * @throws {StateFileError}
 * @throws {ListingError}
 */
export async function verifyBots(input: VerificationInput): Promise<Outcome<Verified, OptionalFailure>> {
  const { config, platformName, state, isBusy } = input;
  const total = emptyVerified();
  const sources = findSources(config, platformName, input.disk);
  const byBot = new Map<string, FoundSource[]>();
  for (const one of sources) byBot.set(one.config.botId, [...(byBot.get(one.config.botId) ?? []), one]);
  for (const [botId, own] of byBot) {
    const [first] = own;
    if (first === undefined) continue;
    const target = state.targetId(targetOf(config, first.config, platformName));
    const verified = await verify({
      ...input,
      at: { target, botId },
      sources: own,
      isBusy: (key: FileKey) => isBusy({ target, key }),
      onDifference: (difference) => {
        input.onDifference(difference, target);
      },
      onSame: (sent, found) => {
        input.onSame(sent, found, target);
      },
    });
    if (verified.kind === 'failed') return verified;
    add(total, verified.value);
  }
  return ok(total);
}

function add(total: Verified, { reasons, ...counts }: Verified): void {
  for (const [name, count] of Object.entries(counts) as [keyof typeof counts, number][]) total[name] += count;
  for (const [reason, count] of Object.entries(reasons) as [keyof typeof reasons, number][])
    total.reasons[reason] = (total.reasons[reason] ?? 0) + count;
}

export function countDifferences({ reasons }: Verified): number {
  return Object.values(reasons).reduce((sum, count) => sum + count, 0);
}

/** Records a difference, so that the next walk over the file repairs it or reports why not. */
export function noteDifference(
  state: StateStore,
  target: number,
  { key, id, reason, noted, detail }: FileDifference,
  nowMs: number,
): void {
  if (noted !== null) state.remote.recordDifference({ target, key }, noted);
  else if (reason === 'failed' && id !== null) {
    const sentAtMs = state.find({ target, key })?.sentAtMs ?? null;
    if (sentAtMs === null) return;
    const sending = { target, key, remoteId: id, sentAtMs };
    state.remote.recordVerdict(sending, { verdict: 'unsearchable', reason: detail }, nowMs);
  }
}

/** Records an orphan for removal. It is then guarded like a deleted file. */
export function noteOrphan(
  state: StateStore,
  target: number,
  { key, id, source, path, content }: FileDifference,
  nowMs: number,
): void {
  if (id === null || path === null || content === null) return;
  const { sizeBytes, sha256 } = content;
  const orphan = { source, path, remoteId: id, sizeBytes, sha256: Buffer.from(sha256, 'hex') };
  state.removals.noteOrphan({ target, key }, orphan, nowMs);
}

/** Records news about a file that is as it should be. */
export function noteSame(
  state: StateStore,
  target: number,
  sent: FileRecord,
  found: FoundFile,
  nowMs: number,
): void {
  const { key, remoteId, verdict, isMarked, differs } = sent;
  if (differs !== null) state.remote.recordDifference({ target, key }, null);
  const isNews =
    remoteId !== found.remoteId ||
    (found.verdict !== null && verdict !== found.verdict) ||
    (found.isMarked && !isMarked);
  if (isNews) state.remote.recordFound({ target, key }, found, nowMs);
}
