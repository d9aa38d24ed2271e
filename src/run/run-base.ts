import { quoteForShell } from '../config/problem.ts';
import type { Log } from '../service/logger.ts';
import { EventFeed } from './event-feed.ts';

export interface RunBase {
  readonly target: RunTarget;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly feed: EventFeed;
}

export interface RunTarget {
  /** The configuration file as named by the caller. */
  readonly config: string;
  readonly emulator: boolean;
}

/** The command that approves a halt, for messages. */
export function approveCommand({ config, emulator }: RunTarget): string {
  return `run: botsync approve${emulator ? ' --emulator' : ''} -c ${quoteForShell(config)}`;
}
