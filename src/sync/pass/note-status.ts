import type { Emit } from '../events.ts';
import type { Clock } from '../../domain/clock.ts';
import { stepAfter, type Step } from '../../domain/confirmation.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { PlatformStatus } from '../../domain/platform-status.ts';
import type { SentRecord } from '../../domain/record.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { BotAtTarget } from '../catalog/served-catalog.ts';

export type StatusOutcome = 'stored' | 'searchable' | 'failed';

export interface StatusPorts {
  readonly state: StateStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: Emit;
  /** The most sends of the same content before it waits for a change or the next rescan. */
  readonly attempts: number;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** Called for each file with a final status. */
  readonly onStatus: ((outcome: StatusOutcome) => void) | undefined;
  /** Called when the platform had no room for a file that it had begun to accept. */
  readonly noteShortage: (reason: string, botId: string) => void;
  /** Called when the platform does not have a file as it is here. */
  readonly noteUnsent: (source: string, path: string, fingerprint: Fingerprint) => void;
}

interface Haste {
  /** The longest delay before the next question about a file, milliseconds. */
  readonly longestAskMs: number;
  /** Returns whether the run resends a lost file before it ends. */
  readonly willResend: (lost: LostFile) => boolean;
}

/** Records and reports a file's status on the platform, unless the file was sent again since the question. */
export function noteStatus(
  status: PlatformStatus,
  file: SentRecord,
  bot: BotAtTarget,
  ports: StatusPorts & Haste,
): void {
  const { state, clock, attempts } = ports;
  if (!state.isCurrent(file)) return;
  const nowMs = clock.now();
  const step = stepAfter(status, file, attempts, nowMs);
  switch (step.kind) {
    case 'ask': {
      const askAtMs = nowMs + Math.min(step.afterMs, ports.longestAskMs);
      state.remote.askAgain(file, { askAtMs, trouble: step.trouble }, nowMs);
      break;
    }
    case 'settle': {
      const reason = step.verdict === 'unsearchable' ? step.reason : null;
      state.remote.recordVerdict(file, { verdict: step.verdict, reason }, nowMs);
      if (step.verdict === 'unsearchable') reportFailure(status, file, step.reason, ports);
      else reportSuccess(status, file, step.verdict, ports);
      break;
    }
    case 'lose': {
      noteLoss(step, file, bot, ports);
      const { reason, resendAfterMs } = step;
      const resendAtMs = resendAfterMs === null ? null : nowMs + resendAfterMs;
      if (resendAtMs !== null && ports.willResend({ file, bot, status, reason, resendAtMs }))
        ports.emit({
          kind: 'retrying',
          path: `${file.source}/${file.path}`,
          reason,
          delayMs: resendAtMs - nowMs,
        });
      else reportFailure(status, file, reason, ports);
      break;
    }
  }
}

function noteLoss(
  { state: as, reason, resendAfterMs, isForWantOfRoom }: Extract<Step, { kind: 'lose' }>,
  file: SentRecord,
  bot: BotAtTarget,
  { state, clock, noteShortage, noteUnsent }: StatusPorts,
): void {
  const nowMs = clock.now();
  const resendAtMs = resendAfterMs === null ? null : nowMs + resendAfterMs;
  state.remote.recordLoss(file, { state: as, reason, resendAtMs }, nowMs);
  if (isForWantOfRoom) noteShortage(reason, bot.botId);
  const stored = state.find(file);
  if (stored !== null) noteUnsent(file.source, file.path, stored.fingerprint);
}

function reportSuccess(
  { said }: PlatformStatus,
  { source, path, key }: SentRecord,
  outcome: 'stored' | 'searchable',
  { emit, onStatus }: StatusPorts,
): void {
  onStatus?.(outcome);
  emit({ kind: 'file', file: { kind: 'confirm', source, path, key, reason: said, outcome } });
}

/** Reports that the platform does not have a file as it should. */
export function reportFailure(
  { said }: PlatformStatus,
  { source, path, key }: SentRecord,
  error: string,
  { emit, onStatus }: Pick<StatusPorts, 'emit' | 'onStatus'>,
): void {
  onStatus?.('failed');
  emit({
    kind: 'file',
    file: { kind: 'confirm', source, path, key, reason: said, outcome: 'failed', error },
  });
}

/** A file that the platform lost after its store had accepted it, and that the same run resends. */
export interface LostFile {
  readonly file: SentRecord;
  readonly bot: BotAtTarget;
  readonly status: PlatformStatus;
  /** For messages. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly resendAtMs: number;
}

/** Resends lost files that still exist. Returns those whose source must not be scanned. */
export type SendAgain = (lost: readonly LostFile[]) => Promise<LostFile[]>;
