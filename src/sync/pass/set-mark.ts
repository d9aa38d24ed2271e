import type { Emit } from '../events.ts';
import type { Clock } from '../../domain/clock.ts';
import { askAfterMs } from '../../domain/confirmation.ts';
import type { OptionalFailure } from '../../domain/failure.ts';
import type { CatalogFile } from '../../domain/file-catalog.ts';
import { MARK_NAME, markOf, readMark } from '../../domain/mark.ts';
import { readStatus } from '../../domain/platform-status.ts';
import type { SentRecord } from '../../domain/record.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import type { KeyLocks } from './key-locks.ts';

/** Attempts to set a mark end after this, milliseconds. */
const GIVE_UP_MS = 86_400_000;

/** The delay if another task of the key is in progress, milliseconds. */
const AFTER_FLIGHT_MS = 1000;

/** The delay while the service is paused, milliseconds. */
const AFTER_PAUSE_MS = 60_000;

export interface MarkPorts {
  readonly state: StateStore;
  readonly clock: Clock;
  readonly catalog: ServedCatalog;
  readonly keyLocks: KeyLocks;
  readonly emit: Emit;
  readonly isMarking: boolean;
  /** See `SyncMode`. */
  readonly isPaused: () => boolean;
}

/**
 * Sets the mark of content that was too large to be hashed before its upsert, as a task of its key. Returns why the
 * platform could not be asked; `null` if it could.
 */
export async function setMark(
  file: SentRecord,
  bot: BotAtTarget,
  ports: MarkPorts,
  signal: AbortSignal,
): Promise<OptionalFailure | null> {
  const { state, clock, catalog, keyLocks, isMarking, isPaused } = ports;
  if (!isMarking || !catalog.serves(bot.target, 'update')) {
    state.remote.recordMarked(file, false);
    return null;
  }
  if (keyLocks.has(file) || isPaused()) {
    state.remote.postpone(file, clock.now() + (isPaused() ? AFTER_PAUSE_MS : AFTER_FLIGHT_MS));
    return null;
  }
  let failure: OptionalFailure | null = null;
  await keyLocks.run(file, null, async () => {
    // The file may have been sent again in the meantime: the mark would be that of other content.
    if (state.isCurrent(file)) failure = await update(file, bot, ports, signal);
  });
  return failure;
}

async function update(
  file: SentRecord,
  bot: BotAtTarget,
  { state, clock, catalog, emit }: MarkPorts,
  signal: AbortSignal,
): Promise<OptionalFailure | null> {
  const metadata = { [MARK_NAME]: markOf(file.sha256, file.source) };
  const answered = await catalog.update(bot, file.remoteId, { metadata }, signal);
  const nowMs = clock.now();
  if (answered.kind === 'ok') {
    noteAnswer(answered.value, file, bot, { state, nowMs });
    return null;
  }
  const { failure } = answered;
  switch (failure.kind) {
    case 'not-found':
      // Confirmations find out what happened to the file. If it is there after all, it stays unmarked, so that this
      // does not repeat endlessly.
      state.remote.recordMarked(file, false);
      state.remote.withdrawVerdict(file, nowMs + askAfterMs(nowMs - file.sentAtMs));
      return null;
    case 'refused':
      emit({
        kind: 'warning',
        message: `${file.source}/${file.path}: its content could not be marked: ${failure.message}`,
      });
      state.remote.recordMarked(file, false);
      return null;
    case 'not-served':
      state.remote.recordMarked(file, false);
      return null;
    case 'credentials':
    case 'quota':
    case 'transient':
      return signal.aborted ? null : failure;
  }
}

function noteAnswer(
  answer: CatalogFile,
  file: SentRecord,
  bot: BotAtTarget,
  { state, nowMs }: { readonly state: StateStore; readonly nowMs: number },
): void {
  const ageMs = nowMs - file.sentAtMs;
  const isMarked = readMark(answer.metadata)?.sha256 === file.sha256.toString('hex');
  if (answer.id !== file.remoteId || (!isMarked && ageMs < GIVE_UP_MS)) {
    state.remote.postpone(file, nowMs + askAfterMs(ageMs));
    return;
  }
  state.remote.recordMarked(file, isMarked);
  // The update may cause the file to be indexed again, and somebody may have replaced the file.
  const told = state.remote.toldSettings(file.settingsDigest);
  const status = readStatus(answer, { ...file, isMarked }, told?.index ?? null);
  if (status.kind !== 'final') state.remote.withdrawVerdict(file, nowMs + askAfterMs(0));
}
