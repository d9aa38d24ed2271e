import { describeHalt } from '../words/halt.ts';
import { describeReason } from '../words/obstacle.ts';
import prettyBytes from 'pretty-bytes';
import { escapeControls } from '../domain/escape.ts';
import { HALT_TRAITS } from '../domain/guard.ts';
import type { Notice } from './decide.ts';
import type { Subject, Trouble } from './trouble.ts';

export interface Figures {
  /** Files in sync. */
  readonly files: number;
  readonly bytes: number;
  /** Files sent since the last summary. */
  readonly sentFiles: number;
  readonly sentBytes: number;
  /** When the platform deletes the next file, epoch milliseconds; `null`: never. */
  readonly nextExpiryMs: number | null;
}

export interface Wording {
  /** The name of this machine; in a cluster that of the host and the unit. */
  readonly host: string;
  /** Complete commands that messages recommend. */
  readonly commands: {
    readonly status: string;
    readonly doctor: string;
    readonly approve: (source: string) => string;
  };
}

/** The longest name or reason within a message, characters. */
const LONGEST_PART = 200;

/** Names and reasons are shown without control characters, and shortened. */
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

/** @param sinceMs - of the last summary, epoch milliseconds. */
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

export function wordTest({ host }: Wording): string {
  return `botsync on ${part(host)}: this is a test. Notifications of botsync arrive here.`;
}

function describe(trouble: Trouble): string {
  switch (trouble.kind) {
    case 'failing': {
      const { source, count, path, reason } = trouble;
      const first = count === 1 ? part(path) : `the first is ${part(path)}`;
      return `${counted(count)} of ${part(source)} ${count === 1 ? 'is' : 'are'} not in sync: ${first} (${part(describeReason(reason))})`;
    }
    case 'out-of-reach':
      return 'the platform is unreachable, and all files wait';
    case 'halted':
      return `${part(trouble.source)} is halted; nothing of it is ${HALT_TRAITS[trouble.halt.kind].sends ? 'removed' : 'sent'}: ${part(describeHalt(trouble.halt))}`;
    case 'expiring': {
      const { source, count } = trouble;
      return `${counted(count)} of ${part(source)} could not be renewed in time and will expire`;
    }
    case 'credentials':
      return `the platform refuses the credentials: ${part(trouble.reason)}`;
    case 'configuration':
      return `the configuration on disk cannot be loaded, and the one before is in use: ${part(trouble.reason)}`;
  }
}

function nextStep(trouble: Trouble, commands: Wording['commands']): string {
  switch (trouble.kind) {
    case 'failing':
    case 'expiring':
      return `Run: ${commands.status}`;
    case 'out-of-reach':
    case 'credentials':
    case 'configuration':
      return `Run: ${commands.doctor}`;
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
    case 'out-of-reach':
      return 'the platform is reachable again';
    case 'credentials':
      return 'the platform no longer refuses the credentials';
    case 'configuration':
      return 'the configuration on disk is in use again';
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
  // Remove half of a surrogate pair.
  return `${shown.slice(0, LONGEST_PART).replace(/\p{Surrogate}$/u, '')}…`;
}
