import type { FileEvent } from '../../domain/report.ts';

/** Told what a pass does, as it happens. */
export interface Reporter {
  readonly event: (event: FileEvent) => void;
  /** Something that people should know and that is no file's event. */
  readonly warn: (message: string) => void;
  /** A file is about to be sent, again after a failure: for people who watch. */
  readonly retrying: (path: string, reason: string, delayMs: number) => void;
  /** Content bytes that were sent. */
  readonly sent: (bytes: number) => void;
}
