import type { Clock } from '../../domain/clock.ts';
import { askAfterMs, wordOf } from '../../domain/confirmation.ts';
import type { CatalogFile } from '../../domain/file-catalog.ts';
import { MARK_NAME, markOf, readMark } from '../../domain/mark.ts';
import type { Unconfirmed } from '../../state/remote.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import type { Flights } from './flights.ts';
import { sendingOf } from './note-word.ts';
import type { Reporter } from './reporter.ts';

/** A mark that the platform does not take is given up after so long, milliseconds. */
const GIVE_UP_MS = 86_400_000;

/** A mark waits so long for another flight of its key, milliseconds. */
const AFTER_FLIGHT_MS = 1000;

/** What setting a mark needs. */
export interface MarkPorts {
  readonly state: StateStore;
  readonly clock: Clock;
  readonly catalog: ServedCatalog;
  readonly flights: Flights;
  readonly report: Pick<Reporter, 'event' | 'warn'>;
  /** Whether contents are marked at all. */
  readonly isMarking: boolean;
}

/**
 * Sets the mark of a content that was too large to be hashed before its upsert, while nothing else is done to its key.
 * Returns whether the platform could be asked.
 */
export async function setMark(
  file: Unconfirmed,
  bot: BotAtTarget,
  ports: MarkPorts,
  signal: AbortSignal,
): Promise<'answered' | 'failure'> {
  const { state, clock, catalog, flights, isMarking } = ports;
  const sending = sendingOf(file, bot);
  if (!isMarking || !catalog.serves(bot.target, 'update')) {
    state.remote.recordMarked(sending, false);
    return 'answered';
  }
  const id = { target: bot.target, key: file.key };
  if (flights.has(id)) {
    state.remote.postpone(sending, clock.now() + AFTER_FLIGHT_MS);
    return 'answered';
  }
  let asked: 'answered' | 'failure' = 'answered';
  await flights.run(id, null, async () => {
    // Since it was found to be due, the file may have been sent again: the mark would be that of another content.
    if (state.remote.isCurrent(sending)) asked = await update(file, bot, ports, signal);
  });
  return asked;
}

async function update(
  file: Unconfirmed,
  bot: BotAtTarget,
  { state, clock, catalog, report }: MarkPorts,
  signal: AbortSignal,
): Promise<'answered' | 'failure'> {
  const sending = sendingOf(file, bot);
  const metadata = { [MARK_NAME]: markOf(file.sha256, file.source) };
  const answered = await catalog.update(bot, file.remoteId, { metadata }, signal);
  const nowMs = clock.now();
  if (answered.kind === 'ok') {
    noteAnswer(answered.value, file, bot, { state, nowMs });
    return 'answered';
  }
  const { failure } = answered;
  switch (failure.kind) {
    case 'not-found':
      // What became of it is asked in the usual way, and if it is there after all it goes without: nothing spins.
      state.remote.recordMarked(sending, false);
      state.remote.withdrawVerdict(sending, nowMs + askAfterMs(nowMs - file.sentAtMs));
      return 'answered';
    case 'refused':
      report.warn(`${file.source}/${file.path}: its content could not be marked: ${failure.message}`);
      state.remote.recordMarked(sending, false);
      return 'answered';
    case 'not-served':
      state.remote.recordMarked(sending, false);
      return 'answered';
    case 'credentials':
    case 'quota':
    case 'transient':
      return signal.aborted ? 'answered' : 'failure';
  }
}

function noteAnswer(
  answer: CatalogFile,
  file: Unconfirmed,
  bot: BotAtTarget,
  { state, nowMs }: { readonly state: StateStore; readonly nowMs: number },
): void {
  const sending = sendingOf(file, bot);
  const ageMs = nowMs - file.sentAtMs;
  const isMarked = readMark(answer.metadata)?.sha256 === file.sha256.toString('hex');
  if (answer.id !== file.remoteId || (!isMarked && ageMs < GIVE_UP_MS)) {
    state.remote.postpone(sending, nowMs + askAfterMs(ageMs));
    return;
  }
  state.remote.recordMarked(sending, isMarked);
  // A change may have it indexed again, and what is there may have become something else.
  const told = state.remote.toldSettings(file.settingsDigest);
  const word = wordOf(answer, file, told?.index ?? null);
  if (word.kind !== 'final') state.remote.withdrawVerdict(sending, nowMs + askAfterMs(0));
}
