import type { Style } from '../../service/colour.ts';
import { timeOfDay } from '../../service/log-line.ts';
import type { SeenFacts } from './status-feed.ts';

/** What became of the service while its status is being watched. */
export interface FeedNews {
  readonly style: Style;
  readonly text: string;
  /** Epoch milliseconds; it is old then. `null`: it is true until there is other news. */
  readonly untilMs: number | null;
}

/** Good news is shown for this time. */
const SHOWN_MS = 60_000;

/**
 * What is to be said of the service beside the facts; `null`: nothing.
 *
 * @param before - the facts before these; `null`: these are the first.
 * @param current - what is being said.
 */
export function newsOf(
  before: Pick<SeenFacts, 'origin' | 'daemon'> | null,
  { origin, daemon }: Pick<SeenFacts, 'origin' | 'daemon'>,
  current: FeedNews | null,
  nowMs: number,
): FeedNews | null {
  const was = before?.origin.kind ?? null;
  if (origin.kind === 'daemon') {
    const what = whatBegan(before, daemon);
    if (what !== null) return { style: 'ok', text: `${what} at ${clock(nowMs)}`, untilMs: nowMs + SHOWN_MS };
    return (current?.untilMs ?? Infinity) <= nowMs ? null : current;
  }
  const isOld = was === origin.kind || (was === null && origin.kind === 'state-file');
  if (isOld) return current;
  const what =
    origin.kind === 'state-file'
      ? `The service stopped at ${clock(nowMs)}`
      : `No answer from the service at ${clock(nowMs)}: ${origin.reason}`;
  return { style: 'warning', text: `${what}. The status is from the state file`, untilMs: null };
}

/** What a service did that answers now; `null`: it goes on. */
function whatBegan(
  before: Pick<SeenFacts, 'origin' | 'daemon'> | null,
  daemon: SeenFacts['daemon'],
): string | null {
  switch (before?.origin.kind) {
    case undefined:
      return null;
    case 'state-file':
      return 'The service started';
    case 'silent-daemon':
      return 'The service answered again';
    case 'daemon':
      return before.daemon?.since === daemon?.since ? null : 'The service was restarted';
  }
}

function clock(timeMs: number): string {
  return timeOfDay(new Date(timeMs));
}
