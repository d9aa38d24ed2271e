import type { PlatformStatus } from '../../domain/platform-status.ts';
import type { SentRecord } from '../../domain/record.ts';
import type { BotAtTarget } from '../catalog/served-catalog.ts';

/** A file that the platform lost after its store had taken it, and that the same run sends again. */
export interface LostFile {
  readonly file: SentRecord;
  readonly bot: BotAtTarget;
  readonly status: PlatformStatus;
  /** For people. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly resendAtMs: number;
}

/** Sends lost files again, as far as they are still there. Returns those whose source may not be looked at. */
export type SendAgain = (lost: readonly LostFile[]) => Promise<LostFile[]>;
