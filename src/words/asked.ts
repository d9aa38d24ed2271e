import { describeHalt } from './halt.ts';
import type { Approval, AskedPrune, AskedRescan, HaltStatus } from '../domain/status.ts';
import type { RemovalMode } from '../domain/record.ts';
import { countText } from '../service/amounts.ts';
import { placeOf } from './place.ts';

/** The result of an approval on all hosts of a cluster. */
export interface HostsApproval extends Approval {
  /** Approvals that other hosts were asked for. */
  readonly passedOn?: readonly { readonly source: string; readonly host: string }[];
  /** Approvals that no host could be asked for. */
  readonly failed?: readonly { readonly source: string; readonly reason: string }[];
}

/** The result of a rescan on all hosts of a cluster. */
export type HostsRescan =
  | AskedRescan
  | { readonly kind: 'passed-on'; readonly host: string }
  | { readonly kind: 'not-passed-on'; readonly reason: string };

/** The result of a prune on all hosts of a cluster. */
export type HostsPrune =
  | AskedPrune
  | { readonly kind: 'passed-on'; readonly host: string }
  | { readonly kind: 'not-passed-on'; readonly reason: string };

export function pruneWords(asked: HostsPrune, source: string): string {
  switch (asked.kind) {
    case 'pruning':
      return `Being removed from the platform: ${countText(asked.files, 'file')} of ${source}.`;
    case 'passed-on':
      return `Passed on to ${asked.host}, which syncs ${source}.`;
    case 'not-passed-on':
      return `Nothing of ${source} was pruned: ${asked.reason}.`;
    case 'changed':
      return `Nothing of ${source} was pruned: other files are kept now than were listed; run the command again.`;
    case 'unknown-source':
      return `Nothing was pruned: the running botsync has no source named ${source}.`;
    case 'unseen':
      return `Nothing of ${source} was pruned: no pass of the running botsync has seen its directory yet.`;
    case 'halted':
      return `Nothing of ${source} was pruned: it is halted: ${describeHalt(asked.halt)}.`;
  }
}

/** Returns the result of an approval as sentences. */
export function approvalWords({
  approved,
  missing,
  changed,
  passedOn = [],
  failed = [],
}: HostsApproval): string[] {
  const sentences = [
    ...(approved.length === 0 ? [] : [`Approved, once: ${approved.join(', ')}.`]),
    ...missing.map(
      (source) =>
        `Not approved: ${source}. Its directory is missing; the source continues when the directory exists again.`,
    ),
    ...changed.map(
      (source) => `Not approved: ${source}. It is halted by something else now; look at botsync status.`,
    ),
    ...passedOn.map(({ source, host }) => `Passed on to ${host}, which syncs ${source}.`),
    ...failed.map(({ source, reason }) => `Not approved: ${source}. Reason: ${reason}.`),
  ];
  return sentences.length === 0 ? ['This source is not halted, so there is nothing to approve.'] : sentences;
}

/** Returns the effect of approving a halt: a sentence that the first paths of `halt` may follow. */
export function approvalEffect({ kind, files }: HaltStatus, removals: RemovalMode): string {
  const removed = {
    keep: 'will be removed from the platform',
    expire: 'will expire on the platform',
    delete: 'will be deleted from the platform',
  }[removals];
  switch (kind) {
    case 'missing':
      return 'Nothing can be approved: the directory is missing.';
    case 'mass-removal':
      return `If you approve, ${countText(files, 'file')} ${removed}:`;
    case 'emptied':
    case 'mounts-changed':
      return removals === 'keep'
        ? `If you approve, botsync goes on, and ${countText(files, 'file')} will stay on the platform:`
        : `If you approve, ${countText(files, 'file')} ${removed}:`;
    case 'new-keys':
      return `If you approve, ${countText(files, 'file')} will be sent again, and what was sent before ${removals === 'keep' ? 'will stay on the platform' : removed}:`;
    case 'replaced':
      return removals === 'keep'
        ? 'If you approve, botsync goes on with this directory. Files that it lacks stay on the platform, among them:'
        : `If you approve, botsync goes on with this directory. Files that it lacks ${removed}, among them:`;
  }
}

/**
 * Returns the result of a rescan in a sentence or two.
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
      return `${source ?? ''} is halted: ${describeHalt(asked.halt)}.`;
  }
}
