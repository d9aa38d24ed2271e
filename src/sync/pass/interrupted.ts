import { type FileKey, type RelativePath, fileKey } from '../../domain/key.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { FileRecord } from '../../domain/record.ts';
import { scan } from '../../files/scan.ts';
import { isPlannedSend } from '../plan/plan-item.ts';
import { planSource } from '../plan/plan-source.ts';
import { Turns } from '../plan/turns.ts';
import { mayBeSent } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { sendPlannedFile } from './send-planned-file.ts';
import type { WalkContext } from './sync-context.ts';
import { planPorts, type SentFirst } from './walk.ts';

/**
 * Sends the files of a source again that were being sent when botsync ended: the platform may have nothing of them. The
 * walk over the source handles other cases. Sends may still run when it returns.
 *
 * @param before - earlier sources, which take precedence where both produce the same key.
 */
export async function sendInterrupted(
  source: Source,
  before: readonly Source[],
  context: WalkContext,
): Promise<SentFirst> {
  const { state, stop, clock, workers } = context;
  const { name } = source.config;
  const target = state.targetId(source.syncTarget);
  const ports = planPorts(target, { ...context, retriesFailed: true }, () => true);
  const sent = new Map<string, Fingerprint>();
  const turns = new Turns(clock);
  const pageAfter = (path: string): FileRecord[] => state.interrupted(target, name, path);
  for (let page = pageAfter(''); page.length > 0; page = pageAfter(page.at(-1)?.path ?? '')) {
    for (const { path, key } of page) {
      if (stop.aborted) return sent;
      await turns.step();
      if (!isItsOwn(source, path, key) || before.some((other) => mayGive(other, target, key, context)))
        continue;
      for (const item of planSource(source, scan(source, path), state.recordsAt(target, name, path), ports)) {
        if (!isPlannedSend(item) || item.path !== path) continue;
        sent.set(path, item.fingerprint);
        await workers.add(() => sendPlannedFile(item, source, target, context));
      }
    }
  }
  return sent;
}

/** Returns whether a record's file exists, is synced, and still has its key. */
function isItsOwn(source: Source, path: RelativePath, key: FileKey): boolean {
  const { keyPrefix } = source.config;
  return fileKey(keyPrefix, path) === key && !source.filter.ignoresFile(path) && mayBeSent(source, path);
}

/** Returns whether another source may have a file with a key. */
function mayGive(other: Source, target: number, key: FileKey, { state }: WalkContext): boolean {
  const prefix = other.config.keyPrefix.normalize('NFC');
  if (state.targetId(other.syncTarget) !== target || !key.startsWith(prefix)) return false;
  return mayBeSent(other, key.slice(prefix.length));
}
