import type { FileEvent } from '../../domain/report.ts';

/** A file whose content is to be sent. */
export interface OutgoingFile {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** Follows the sending of one file. */
export interface TransferWatch {
  /** Bytes that were handed to the connection since the last call. */
  readonly progress: (bytes: number) => void;
  /** The attempt is over, however it ended. */
  readonly ended: () => void;
}

/** What the sending of a file took: the attempt that succeeded. */
export interface Transferred {
  readonly bytes: number;
  readonly durationMs: number;
}

/** Receives what a pass does, as it happens. */
export interface Reporter {
  /** `transferred`: of a file whose content was sent. `isKnown`: an earlier pass met and told the same. */
  readonly event: (event: FileEvent, transferred?: Transferred, isKnown?: boolean) => void;
  /** Something that people should know and that is no file's event. */
  readonly warn: (message: string) => void;
  /** Something that people may like to know, and that asks nothing of them. */
  readonly inform?: (message: string) => void;
  /** A file is about to be sent, again after a failure: for people who watch. */
  readonly retrying: (path: string, reason: string, delayMs: number) => void;
  /** Content bytes that were sent. */
  readonly sent: (bytes: number) => void;
  /** An attempt to send a file begins. */
  readonly sending?: (file: OutgoingFile) => TransferWatch;
}
