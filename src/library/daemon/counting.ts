import type { Config } from '../../config/config.ts';
import type { StateStore } from '../../state/state-store.ts';
import { countAhead } from '../count-ahead.ts';
import type { EventFeed } from '../events.ts';

/** What is counted. */
export interface CountInput {
  readonly config: Config;
  readonly platformName: string;
  readonly state: StateStore;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly stop: AbortSignal;
}

/** Runs a daemon, and tells those who want to know, while it begins, how much its first pass has to send. */
export async function runCounting(
  { stop, ...input }: CountInput,
  feed: Pick<EventFeed, 'looking' | 'expect'>,
  run: () => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const counting = countAhead(
    {
      ...input,
      isForced: () => false,
      seen: (files) => {
        feed.looking(files);
      },
    },
    AbortSignal.any([ended.signal, stop]),
  ).then(
    (ahead) => {
      if (ahead !== null && !ended.signal.aborted) feed.expect(ahead.files, ahead.bytes);
    },
    // The daemon meets what the count meets, and tells of it.
    () => undefined,
  );
  try {
    await run();
  } finally {
    ended.abort();
    await counting;
  }
}
