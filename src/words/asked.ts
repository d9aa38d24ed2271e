import type { Approval } from '../sync/daemon/approvals.ts';
import type { AskedRescan } from '../sync/daemon/asked-rescan.ts';
import { placeOf } from './place.ts';

/** What came of an approval on all hosts of a cluster. Without a cluster nothing is passed on. */
export interface HostsApproval extends Approval {
  /** What other hosts were asked to approve. */
  readonly passedOn?: readonly { readonly source: string; readonly host: string }[];
  /** What nobody could be asked to. */
  readonly failed?: readonly { readonly source: string; readonly reason: string }[];
}

/** What comes of it when somebody wants a look on all hosts of a cluster. */
export type HostsRescan =
  | AskedRescan
  | { readonly kind: 'passed-on'; readonly host: string }
  | { readonly kind: 'not-passed-on'; readonly reason: string };

/** What came of an approval, a sentence each; `names` are shown as they are. */
export function approvalWords({ approved, missing, passedOn = [], failed = [] }: HostsApproval): string[] {
  if (approved.length + missing.length + passedOn.length + failed.length === 0)
    return ['No source is halted, so there is nothing to approve.'];
  return [
    ...(approved.length === 0 ? [] : [`Approved, once: ${approved.join(', ')}.`]),
    ...(missing.length === 0
      ? []
      : [
          `Not approved, because the directory is missing: ${missing.join(', ')}. The source continues when the directory exists again.`,
        ]),
    ...passedOn.map(({ source, host }) => `Passed on to ${host}, which syncs ${source}.`),
    ...failed.map(({ source, reason }) => `Not approved: ${source}, as ${reason}.`),
  ];
}

/**
 * What comes of it when somebody wants a look now, in a sentence or two.
 *
 * @param source - `null` for all.
 * @param path - relative to the source; `null` for everything.
 */
export function rescanWords(asked: HostsRescan, source: string | null, path: string | null): string {
  const file = placeOf(source ?? '', path ?? '');
  switch (asked.kind) {
    case 'pass':
      return 'Everything is being checked, and failed files are retried.';
    case 'path':
      return asked.waitsFor === null
        ? `Being checked now: ${file}.`
        : `Being checked now: ${file}. It can be sent only when the platform takes files again: ${asked.waitsFor}.`;
    case 'passed-on':
      return `Passed on to ${asked.host}, which syncs ${source ?? ''}.`;
    case 'not-passed-on':
      return `Not everything can be checked now: ${asked.reason}.`;
    case 'unknown-source':
      return `The running botsync has no source named ${source ?? ''}.`;
    case 'outside':
      return `${path ?? ''} is not a path in the source ${source ?? ''}.`;
    case 'ignored':
      return `${file} is ignored, so it is not sent.`;
    case 'halted':
      return `${source ?? ''} is halted: ${asked.reason}.`;
  }
}
