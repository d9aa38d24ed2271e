import type { Log } from '../service/logger.ts';
import { EventFeed } from './event-feed.ts';

/** What all runs of an opened sync share. */
export interface RunBase {
  readonly target: RunTarget;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly feed: EventFeed;
}

/** Which configuration is meant, and whether the emulator plays the platform. */
export interface RunTarget {
  /** The configuration file as it was named. */
  readonly config: string;
  readonly emulator: boolean;
}
