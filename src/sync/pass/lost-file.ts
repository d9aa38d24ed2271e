import type { PlatformStatus } from '../../domain/platform-status.ts';
import type { SentRecord } from '../../domain/record.ts';
import type { BotAtTarget } from '../catalog/served-catalog.ts';

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
