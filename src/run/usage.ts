import type { OptionalFailure, Outcome } from '../domain/failure.ts';
import { excessesOf, type Additions, type Usages } from '../domain/usage.ts';
import type { PlatformUsage } from '../platform/usage.ts';
import { escapeControls } from '../domain/escape.ts';
import { describeExcess } from '../words/usage.ts';
import type { EventFeed } from './events.ts';

/** Fetches the quotas, and reports their use, what a plan would add, and which quotas that would exceed. */
export async function tellUsage(
  usage: PlatformUsage,
  additions: Additions,
  feed: Pick<EventFeed, 'warn' | 'emit'>,
  signal: AbortSignal,
): Promise<void> {
  const asked = await usage.all(signal);
  if (asked.kind === 'failed') {
    if (!signal.aborted) feed.warn(whyNotAsked(asked));
    return;
  }
  feed.emit({ kind: 'usage', usages: asked.value, additions });
  warnOfExcess(asked.value, additions, feed);
}

/** Warns of quotas that a plan would exceed, if the platform reports them. */
export async function warnOfQuotas(
  usage: PlatformUsage,
  additions: Additions,
  feed: Pick<EventFeed, 'warn' | 'emit'>,
  signal: AbortSignal,
): Promise<void> {
  // A pass that sends nothing needs no quota, so no request is made.
  if (additions.largestFile === 0) return;
  const asked = await usage.all(signal);
  if (asked.kind === 'ok') warnOfExcess(asked.value, additions, feed);
}

/** Returns why the quotas are unknown, for messages. */
export function whyNotAsked({
  failure,
}: Extract<Outcome<Usages, OptionalFailure>, { kind: 'failed' }>): string {
  return `quotas could not be fetched: ${escapeControls(failure.message)}`;
}

function warnOfExcess(usages: Usages, additions: Additions, feed: Pick<EventFeed, 'warn' | 'emit'>): void {
  for (const excess of excessesOf(usages, additions)) feed.warn(describeExcess(excess));
}
