import prettyBytes from 'pretty-bytes';
import { escapeControls } from '../domain/escape.ts';
import type { Notice } from './decide.ts';
import type { Subject, Trouble } from './trouble.ts';

/** The numbers of a summary. */
export interface Figures {
  /** Files in sync, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Sent since the last summary. */
  readonly sentFiles: number;
  readonly sentBytes: number;
  /** When the platform deletes the next file, epoch milliseconds; `null`: never. */
  readonly nextExpiryMs: number | null;
}

/** What goes into the messages besides what happened. */
export interface Wording {
  /** The name of this machine, or the hosts that are told of. */
  readonly host: string;
  /** The commands that people are told to run, complete. */
  readonly commands: {
    readonly status: string;
    readonly doctor: string;
    readonly cluster: string;
    readonly approve: (source: string) => string;
  };
}

/** Longest part of a message that is not ours, characters. */
const LONGEST_PART = 200;

/** The text of a notice. Names and reasons are shown without control characters, and cut. */
export function wordNotice(
  notice: Exclude<Notice, { kind: 'summary' }>,
  { host, commands }: Wording,
): string {
  const on = `botsync on ${part(host)}: `;
  switch (notice.kind) {
    case 'began':
      return `${on}${describe(notice.trouble)}. ${nextStep(notice.trouble, commands)}`;
    case 'grew':
      return `${on}now ${describe(notice.trouble)}. ${nextStep(notice.trouble, commands)}`;
    case 'over':
      return `${on}${describeEnd(notice.subject)}.`;
  }
}

/** The text of a summary. `sinceMs`: epoch milliseconds of the one before. */
export function wordSummary(
  figures: Figures,
  troubles: readonly Trouble[],
  sinceMs: number,
  { host, commands }: Wording,
): string {
  const { files, bytes, sentFiles, sentBytes, nextExpiryMs } = figures;
  const sent = sentFiles === 0 ? 'nothing' : `${counted(sentFiles)} (${prettyBytes(sentBytes)})`;
  const parts = [
    `botsync on ${part(host)}: ${counted(files)} in sync (${prettyBytes(bytes)})`,
    `Sent since ${moment(sinceMs)}: ${sent}`,
    ...(nextExpiryMs === null ? [] : [`Next expiry: ${moment(nextExpiryMs)}`]),
    troubles.length === 0 ? 'No problems' : `Problems: ${troubles.map(describe).join('; ')}`,
  ];
  const next = troubles.length === 0 ? '' : ` Run: ${commands.status}`;
  return `${parts.join('. ')}.${next}`;
}

/** The text that tries out whether messages arrive. */
export function wordTest({ host }: Wording): string {
  return `botsync on ${part(host)}: this is a test. Notifications of botsync arrive here.`;
}

function describe(trouble: Trouble): string {
  switch (trouble.kind) {
    case 'failing': {
      const { source, count, path, reason } = trouble;
      const first = count === 1 ? part(path) : `the first is ${part(path)}`;
      return `${counted(count)} of ${part(source)} ${count === 1 ? 'is' : 'are'} not in sync: ${first} (${part(reason)})`;
    }
    case 'out-of-reach':
      return trouble.from === undefined
        ? 'the platform is unreachable, and all files wait'
        : `the platform is unreachable from ${part(trouble.from.join(', '))}, and files wait there`;
    case 'unsynced': {
      const { source, silent } = trouble;
      return `${part(source)} is synced by no host${silent === null ? '' : `: ${part(silent)} is silent`}`;
    }
    case 'halted':
      return `${part(trouble.source)} is halted; nothing of it is sent: ${part(trouble.reason)}`;
    case 'expiring': {
      const { source, count } = trouble;
      return `${counted(count)} of ${part(source)} could not be renewed in time and will expire`;
    }
    case 'credentials':
      return `the platform refuses the credentials: ${part(trouble.reason)}`;
  }
}

function nextStep(trouble: Trouble, commands: Wording['commands']): string {
  switch (trouble.kind) {
    case 'failing':
    case 'expiring':
      return `Run: ${commands.status}`;
    case 'out-of-reach':
    case 'credentials':
      return `Run: ${commands.doctor}`;
    case 'unsynced':
      return `Run: ${commands.cluster}`;
    case 'halted':
      return `Check its directory. A missing directory only has to be restored; if everything is as it should be, run: ${commands.approve(trouble.source)}`;
  }
}

function describeEnd(subject: Subject): string {
  switch (subject.kind) {
    case 'failing':
      return `all files of ${part(subject.source)} are in sync again`;
    case 'halted':
      return `${part(subject.source)} is no longer halted`;
    case 'expiring':
      return `all files of ${part(subject.source)} that expire are renewed`;
    case 'unsynced':
      return `${part(subject.source)} is synced again`;
    case 'out-of-reach':
      return 'the platform is reachable again';
    case 'credentials':
      return 'the platform no longer refuses the credentials';
  }
}

function counted(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'file' : 'files'}`;
}

/** To the minute. */
function moment(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16)}Z`;
}

function part(text: string): string {
  const shown = escapeControls(text);
  if (shown.length <= LONGEST_PART) return shown;
  // The cut may have left half a character.
  return `${shown.slice(0, LONGEST_PART).replace(/\p{Surrogate}$/u, '')}…`;
}
