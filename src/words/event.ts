import type { EventKind, FileEvent, Transferred } from '../domain/report.ts';
import type { LogLevel, Words } from '../service/logger.ts';
import { haltNotice, type HaltFacts } from './halt.ts';
import type { Style } from '../service/colour.ts';
import { bytesText, durationText } from '../service/amounts.ts';
import { placeOf } from './place.ts';

/** Shorter transfers are reported without a duration. */
const SHORTEST_SHOWN_MS = 100;

/** Verbs for completed actions. */
const DONE: Readonly<Record<'upload' | 'renew' | 'update' | 'adopt' | 'remove', string>> = {
  upload: 'uploaded',
  renew: 'renewed',
  update: 'updated',
  adopt: 'adopted',
  remove: 'removed',
};

/** Verbs for failed actions. */
const FAILED: Readonly<Record<EventKind, string>> = {
  upload: 'could not upload',
  renew: 'could not renew',
  update: 'could not update',
  adopt: 'could not adopt',
  remove: 'could not remove',
  confirm: 'the platform could not process',
  skip: 'could not skip',
  refuse: 'refused',
  problem: 'problem with',
};

/** Reasons for messages about completed actions; others are printed unchanged. */
const REASONS: Readonly<Record<string, string>> = {
  'settings-changed': 'its settings changed',
  'renewal-due': 'before it expires',
  interrupted: 'interrupted before',
  'failed-before': 'failed before',
  returned: 'removed before',
  differs: 'it differed on the platform',
  forced: 'because of --force',
  removed: 'deleted here',
  'key-changed': 'its key changed',
  pruned: 'kept until it was pruned',
  orphan: 'not known here',
};

/** Returns the message about a file's event, the same in every form of the log. */
export function eventWords(event: FileEvent, transferred?: Transferred): Words {
  return wordsAt(` ${placeOf(event.source, event.path)}`, event, transferred);
}

/** Returns the message about an event for people who know the file. */
export function eventSentence(event: Omit<FileEvent, 'key'>): string {
  if (event.kind === 'problem') return `not sent: ${event.reason}`;
  const { head, rest } = wordsAt('', event, undefined);
  return `${head}${rest}`;
}

/** `place`: empty, or the name of the file after a space. */
function wordsAt(place: string, event: Omit<FileEvent, 'key'>, transferred: Transferred | undefined): Words {
  const { kind, reason, outcome, error } = event;
  if (outcome === 'failed') return words('failure', FAILED[kind], `${place}: ${error ?? reason}`);
  switch (kind) {
    case 'refuse':
    case 'problem':
      return words('warning', FAILED[kind], `${place}: ${reason}`);
    case 'skip':
      return words('aside', 'skipped', `${place} (${reason})`);
    case 'confirm':
      return words('ok', outcome ?? 'confirmed', `${place} (the platform reports: ${reason})`);
    case 'upload':
    case 'renew':
    case 'update':
    case 'adopt':
    case 'remove':
      return words('ok', DONE[kind], `${place} (${asides(event, transferred).join('; ')})`);
  }
}

/** Returns the message about a halt, the same in every form of the log. */
export function haltWords({ source, halt, howToApprove }: HaltFacts): Words {
  return words('halted', 'halted', ` ${source}: ${haltNotice(halt, howToApprove)}`);
}

export function eventLevel({ kind, outcome }: FileEvent): LogLevel {
  if (outcome === 'failed' || kind === 'problem' || kind === 'refuse') return 'warn';
  return kind === 'skip' || kind === 'confirm' ? 'debug' : 'info';
}

function asides({ kind, reason }: Omit<FileEvent, 'key'>, transferred: Transferred | undefined): string[] {
  const why = REASONS[reason] ?? reason;
  if (kind === 'update') return [why, 'the content was not sent again'];
  if (transferred === undefined) return [why];
  const { bytes, durationMs } = transferred;
  const size = bytesText(bytes);
  return [durationMs < SHORTEST_SHOWN_MS ? size : `${size} in ${durationText(durationMs)}`, why];
}

function words(style: Style, head: string, rest: string): Words {
  return { style, head, rest };
}
