import type { OptionalFailure, Outcome } from '../domain/failure.ts';
import { excessesOf, type Additions, type Usages } from '../domain/usage.ts';
import type { PlatformUsage } from '../platform/usage.ts';
import { escapeControls } from '../domain/escape.ts';
import { describeExcess } from '../words/usage.ts';
import type { EventFeed } from './event-feed.ts';

/** Asks how much of the quotas is used, and tells that, what a plan would add, and which quotas that would go over. */
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

/** Warns of the quotas that a plan would go over, where the platform tells of them. */
export async function warnOfQuotas(
  usage: PlatformUsage,
  additions: Additions,
  feed: Pick<EventFeed, 'warn' | 'emit'>,
  signal: AbortSignal,
): Promise<void> {
  // What takes no room needs no quota, and a pass that has nothing to send asks nothing.
  if (additions.largestFile === 0) return;
  const asked = await usage.all(signal);
  if (asked.kind === 'ok') warnOfExcess(asked.value, additions, feed);
}

/** Why the quotas are not known, in words. */
export function whyNotAsked({
  failure,
}: Extract<Outcome<Usages, OptionalFailure>, { kind: 'failed' }>): string {
  return `quotas could not be fetched: ${escapeControls(failure.message)}`;
}

function warnOfExcess(usages: Usages, additions: Additions, feed: Pick<EventFeed, 'warn' | 'emit'>): void {
  for (const excess of excessesOf(usages, additions)) feed.warn(describeExcess(excess));
}
