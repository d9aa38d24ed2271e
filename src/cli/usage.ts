import type { OptionalFailure, Outcome } from '../domain/failure.ts';
import { excessesOf, type Additions, type Usages } from '../domain/usage.ts';
import type { PlatformUsage } from '../platform/usage.ts';
import { shown } from './render/output.ts';
import type { PassView } from './render/pass-view.ts';
import { describeExcess } from './render/usage-report.ts';

/** Asks how much of the quotas is used, and tells that, what a plan would add, and which quotas that would go over. */
export async function tellUsage(
  usage: PlatformUsage,
  additions: Additions,
  view: PassView,
  signal: AbortSignal,
): Promise<void> {
  const asked = await usage.all(signal);
  if (asked.kind === 'failed') {
    if (!signal.aborted) view.warn(whyNotAsked(asked));
    return;
  }
  view.usage(asked.value, additions);
  warnOfExcess(asked.value, additions, view);
}

/** Warns of the quotas that a plan would go over, where the platform tells of them. */
export async function warnOfQuotas(
  usage: PlatformUsage,
  additions: Additions,
  view: PassView,
  signal: AbortSignal,
): Promise<void> {
  // What takes no room needs no quota, and a pass that has nothing to send asks nothing.
  if (additions.largestFile === 0) return;
  const asked = await usage.all(signal);
  if (asked.kind === 'ok') warnOfExcess(asked.value, additions, view);
}

/** Why the quotas are not known, in words. */
export function whyNotAsked({
  failure,
}: Extract<Outcome<Usages, OptionalFailure>, { kind: 'failed' }>): string {
  return `the usage could not be asked: ${shown(failure.message)}`;
}

function warnOfExcess(usages: Usages, additions: Additions, view: PassView): void {
  for (const excess of excessesOf(usages, additions)) view.warn(describeExcess(excess));
}
