import type { Clock } from '../../domain/clock.ts';
import { stepAfter, type Step, type Word } from '../../domain/confirmation.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Sending, Unconfirmed } from '../../state/remote.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { BotAtTarget } from '../catalog/served-catalog.ts';
import type { Reporter } from './reporter.ts';

/** What the platform says of a file: what it has, or that something went wrong. */
export type WordOutcome = 'stored' | 'searchable' | 'failed';

/** What taking note of the platform's word needs. */
export interface WordPorts {
  readonly state: StateStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly report: Pick<Reporter, 'event' | 'warn'>;
  /** How often one content is sent before it waits for a change or the next rescan. */
  readonly attempts: number;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** Told of each file of which the platform has said what became of it. */
  readonly onWord: ((outcome: WordOutcome) => void) | undefined;
  /** Told that the platform had no room for a file that it had begun to take. */
  readonly noteShortage: (reason: string, botId: string) => void;
  /** Told that a file is not on the platform as it is. */
  readonly noteUnsent: (source: string, path: string, fingerprint: Fingerprint) => void;
}

/** A question about a file is not put off longer than this, milliseconds. */
interface Haste {
  readonly longestAskMs: number;
}

/** Records and reports what the platform says of a file, unless it was sent again since it was asked. */
export function noteWord(word: Word, file: Unconfirmed, bot: BotAtTarget, ports: WordPorts & Haste): void {
  const { state, clock, attempts } = ports;
  const sending = sendingOf(file, bot);
  if (!state.remote.isCurrent(sending)) return;
  const nowMs = clock.now();
  const step = stepAfter(word, file, attempts, nowMs);
  switch (step.kind) {
    case 'ask': {
      const askAtMs = nowMs + Math.min(step.afterMs, ports.longestAskMs);
      state.remote.askAgain(sending, { askAtMs, trouble: step.trouble }, nowMs);
      break;
    }
    case 'settle': {
      const reason = step.verdict === 'unsearchable' ? step.reason : null;
      state.remote.recordVerdict(sending, { verdict: step.verdict, reason }, nowMs);
      if (step.verdict === 'unsearchable') reportFailure(word, file, step.reason, ports);
      else reportSuccess(word, file, step.verdict, ports);
      break;
    }
    case 'lose':
      noteLoss(step, file, bot, ports);
      reportFailure(word, file, step.reason, ports);
      break;
  }
}

/** The sending that an entry of the queue is about. */
export function sendingOf({ key, remoteId, sentAtMs }: Unconfirmed, { target }: BotAtTarget): Sending {
  return { target, key, remoteId, sentAtMs };
}

function noteLoss(
  { state: as, reason, resendAfterMs, isForWantOfRoom }: Extract<Step, { kind: 'lose' }>,
  file: Unconfirmed,
  bot: BotAtTarget,
  { state, clock, noteShortage, noteUnsent }: WordPorts,
): void {
  const nowMs = clock.now();
  const resendAtMs = resendAfterMs === null ? null : nowMs + resendAfterMs;
  state.remote.recordLoss(sendingOf(file, bot), { state: as, reason, resendAtMs }, nowMs);
  if (isForWantOfRoom) noteShortage(reason, bot.botId);
  const stored = state.find({ target: bot.target, key: file.key });
  if (stored !== null) noteUnsent(file.source, file.path, stored.fingerprint);
}

function reportSuccess(
  { said }: Word,
  { source, path, key }: Unconfirmed,
  outcome: 'stored' | 'searchable',
  { report, onWord }: WordPorts,
): void {
  onWord?.(outcome);
  report.event({ kind: 'confirm', source, path, key, reason: said, outcome });
}

function reportFailure(
  { said }: Word,
  { source, path, key }: Unconfirmed,
  error: string,
  { report, onWord }: WordPorts,
): void {
  onWord?.('failed');
  report.event({ kind: 'confirm', source, path, key, reason: said, outcome: 'failed', error });
}
