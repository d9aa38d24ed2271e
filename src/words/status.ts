import { quoteForShell } from '../config/problem.ts';
import { describeCluster, describeClusterTrouble } from './cluster.ts';
import { placeOf } from './place.ts';
import ms from 'ms';
import prettyBytes from 'pretty-bytes';
import { EXIT } from '../domain/exit-code.ts';
import { HALT_TRAITS } from '../domain/guard.ts';
import { isOfCluster } from '../domain/cluster-status.ts';
import type {
  SincePass,
  SourceStatus,
  Failing,
  FailingGroup,
  Known,
  Running,
  Standing,
  Trouble,
} from '../domain/status.ts';
import { escapeControls as shown } from '../domain/escape.ts';
import { describeOthers } from './files.ts';
import { describeHead, type HeadWords } from './head.ts';
import { describePause, pauseTitle } from './pause.ts';
import { describeDone } from './pass.ts';
import { counted, describeSpan } from './quantity.ts';
import { describeBrokenConfiguration } from './service.ts';
import { describeVerified } from './verified.ts';

/** Reasons shown, and files for each. */
const GROUPS_SHOWN = 20;
const FILES_SHOWN = 5;

/** The process that uses the state file. `since`: ISO 8601. */
export interface Runner extends Running {
  readonly command: string;
  readonly pid: number;
  readonly since: string;
}

export interface StatusWords extends HeadWords {
  /** Options that commands need to find the same configuration, such as ` -c other.json`. */
  readonly commandEnd: string;
  /** The platform is asked for the status of files. */
  readonly isAsked: boolean;
}

/** Returns a status as lines: service, verdict, sources, problems, work in progress, last pass. */
export function describeStatus(
  known: Known,
  standing: Standing,
  runner: Runner | null,
  words: StatusWords,
): string[] {
  const { nowMs, isAsked, paint, commandEnd } = words;
  const lines = describeHead(known, standing, runner !== null, words);
  const paused = standing.troubles.find((trouble) => trouble.kind === 'paused');
  if (paused !== undefined) lines.push(paint('warning', describePause(paused, nowMs, commandEnd)));
  const howToApprove = (source: string): string =>
    `botsync ${runner === null && known.cluster === undefined ? 'sync --once --allow-removals' : `approve ${quoteForShell(source)}`}${commandEnd}`;
  const sending = runner === null ? 'interrupted' : runner.outage ? 'waiting for the platform' : 'being sent';
  const sources = known.sources.flatMap((source) =>
    describeSource(source, { nowMs, isAsked, sending, paint, howToApprove }),
  );
  if (sources.length > 0) lines.push('', ...sources);
  const told = standing.troubles.filter(({ kind }) => kind !== 'configuration' && kind !== 'paused');
  const troubles = describeTroubles(told, words);
  if (troubles.length > 0) lines.push('', 'Not in sync:', ...troubles.map((line) => `  ${line}`));
  const story = [
    ...(known.cluster === undefined ? [] : describeCluster(known.cluster)),
    ...(runner === null ? [] : describeRunner(runner, nowMs)),
    ...describeLastPass(known, nowMs),
    ...describeVerification(known, nowMs),
  ];
  return story.length === 0 ? lines : [...lines, '', ...story];
}

function describeSource(
  source: SourceStatus,
  {
    nowMs,
    isAsked,
    sending,
    paint,
    howToApprove,
  }: Pick<StatusWords, 'nowMs' | 'isAsked' | 'paint'> & {
    readonly sending: string;
    readonly howToApprove: (source: string) => string;
  },
): string[] {
  const { name, halted, halt, files, bytes, nextExpiry } = source;
  const words = isAsked ? describeWords(source) : [];
  const expiry = nextExpiry === null ? [] : [`next expiry in ${until(nextExpiry, nowMs)} (${nextExpiry})`];
  const parts = [
    ...(source.syncedBy === undefined ? [] : [`synced by ${shown(source.syncedBy)}`]),
    `${counted(files, 'file')} in sync, ${prettyBytes(bytes)}${words.length === 0 ? '' : ` (${words.join(', ')})`}`,
    ...describeOthers(source, sending).map(({ text }) => text),
    ...expiry,
  ];
  const advice =
    halt === null || !HALT_TRAITS[halt.kind].isApprovable
      ? ''
      : `; if that is right, run: ${howToApprove(name)}`;
  const halts = halted === null ? [] : [`  ${paint('halted', 'HALTED')}: ${shown(`${halted}${advice}`)}`];
  return [`${shown(name)}: ${parts.join('; ')}`, ...halts];
}

/** Returns the counts of a source's synced files by their status on the platform. */
export function describeWords({ files, stored, searchable }: SourceStatus): string[] {
  const known: readonly (readonly [number, string])[] = [
    [searchable, 'searchable'],
    [stored, 'stored'],
    [files - searchable - stored, 'sent, not confirmed'],
  ];
  return known.flatMap(([count, what]) => (count > 0 ? [`${count.toLocaleString('en')} ${what}`] : []));
}

/** Describes the problems, without those that are shown with their source. */
function describeTroubles(troubles: readonly Trouble[], words: StatusWords): string[] {
  const groups = troubles.filter((one) => one.kind === 'files');
  const hidden = groups.slice(GROUPS_SHOWN).reduce((sum, { files }) => sum + files.length, 0);
  const lines = troubles.flatMap((trouble): string[] => {
    if (trouble.kind !== 'files') return [describeCause(trouble, words.nowMs) ?? []].flat();
    return groups.indexOf(trouble) < GROUPS_SHOWN ? describeGroup(trouble, words) : [];
  });
  if (hidden > 0) lines.push(`… and ${counted(hidden, 'file')} with other reasons; --json lists them`);
  return lines;
}

/** Describes a problem that does not concern single files; `null`: it is shown with its source. */
export function describeCause(trouble: Exclude<Trouble, FailingGroup>, nowMs: number): string | null {
  if (isOfCluster(trouble)) return describeClusterTrouble(trouble);
  switch (trouble.kind) {
    case 'state-file':
      return shown(trouble.reason);
    case 'paused':
      return pauseTitle(trouble.until, nowMs);
    case 'configuration':
      return describeBrokenConfiguration(trouble.problem, trouble.loadedAt);
    case 'credentials':
      return trouble.reason === null
        ? 'the platform refused the credentials of the last pass; run: botsync doctor'
        : `the platform refuses the credentials: ${shown(trouble.reason)}${waiting(trouble.waiting)}`;
    case 'quota':
      return `a quota is used up, and files that need more storage wait: ${shown(trouble.reason)}${waiting(trouble.waiting)}`;
    case 'outage':
      return describeOutage(trouble, nowMs);
    case 'interrupted':
      return 'the last pass was interrupted, so some files may not have been checked';
    case 'left-out':
      return `${counted(trouble.files, 'file')} not attempted by the last pass`;
    case 'halted':
    case 'expiring':
    case 'no-pass':
      return null;
  }
}

function waiting(files: number): string {
  return files === 0 ? '' : `; ${counted(files, 'file')} waiting`;
}

function describeOutage(outage: Extract<Trouble, { kind: 'outage' }>, nowMs: number): string {
  const { since, nextTry, reason, waiting: files } = outage;
  const lasts = describeSpan(nowMs - Date.parse(since));
  const again = nextTry === null ? 'with the next change' : soon(nextTry, nowMs);
  return `THE PLATFORM IS UNREACHABLE for ${lasts} (since ${since}): ${shown(reason)}; retry ${again}${waiting(files)}`;
}

function describeGroup({ files }: FailingGroup, { nowMs, commandEnd }: StatusWords): string[] {
  const [first] = files;
  if (first === undefined) return [];
  const retry = describeRetry(first, nowMs);
  const why = `${shown(first.reason)}${retry === null ? '' : `; ${retry}`}`;
  const name = ({ source, path }: Failing): string => shown(placeOf(source, path));
  const kind = KIND_WORDS[first.kind];
  if (files.length === 1) return [`${name(first)}: ${kind}: ${why}`];
  const more = files.length - FILES_SHOWN;
  return [
    `${counted(files.length, 'file')}: ${kind}: ${why}`,
    ...files.slice(0, FILES_SHOWN).map((one) => `  ${name(one)}`),
    ...(more > 0
      ? [`  … and ${more.toLocaleString('en')} more; botsync ls --failed${commandEnd} lists them`]
      : []),
  ];
}

export const KIND_WORDS: Readonly<Record<Failing['kind'], string>> = {
  failed: 'failed',
  sending: 'interrupted',
  refused: 'refused',
  unsearchable: 'not searchable',
  refuse: 'refused',
  problem: 'problem',
  pending: 'waiting',
};

/** Returns when a file is retried; `null`: shown with its source. */
export function describeRetry(
  { kind, retry, retryAt }: Pick<Failing, 'kind' | 'retry' | 'retryAt'>,
  nowMs: number,
): string | null {
  const again = kind === 'problem' ? 'checked again' : 'retried';
  switch (retry) {
    case 'now':
      return `being ${again} now`;
    case 'change':
      return `${again} when the file or its rules change`;
    case 'resume':
      return `${again} when the pause ends`;
    case 'outage':
      return `${again} when the platform is reachable`;
    case 'ask':
      return retryAt === null
        ? 'the next pass asks the platform again'
        : `the platform is asked again ${soon(retryAt, nowMs)}`;
    case 'pass':
      return retryAt === null ? `${again} by the next pass` : `${again} ${soon(retryAt, nowMs)}`;
    case 'halt':
      return null;
  }
}

function describeRunner(runner: Runner, nowMs: number): string[] {
  const { command, pid, since, activity, watchedDirectories = 0, nextPass = null, pause = null } = runner;
  const lines = [
    `Running now: ${command}, process ${pid}, for ${describeSpan(nowMs - Date.parse(since))} (since ${since})`,
  ];
  if (activity === undefined) return lines;
  const watching = pause === null ? 'watching for changes' : 'paused';
  const doing = { starting: 'starting', pass: 'full pass running', watching }[activity];
  const watched = `${counted(watchedDirectories, 'directory', 'directories')} watched`;
  const next =
    activity === 'watching' && nextPass !== null ? `; next full pass ${soon(nextPass, nowMs)}` : '';
  return [...lines, `  ${doing}; ${watched}${next}`];
}

function describeLastPass({ lastPass, sinceLastPass }: Known, nowMs: number): string[] {
  if (lastPass === null) return [];
  const { finishedAt, exitCode, summary } = lastPass;
  const end = exitCode === EXIT.interrupted ? ', interrupted' : '';
  return [
    `Last full pass: ${ago(finishedAt, nowMs)}${end}`,
    `  ${describeDone(summary, false)}`,
    ...(sinceLastPass === null ? [] : describeSince(sinceLastPass, nowMs)),
  ];
}

/** Describes the work since the last pass in one line. */
function describeSince({ last, ...since }: SincePass, nowMs: number): string[] {
  const what: readonly (readonly [number, string])[] = [
    [since.sent, 'sent'],
    [since.updated, 'with other settings'],
    [since.removed, 'removed'],
    [since.failed, 'failed'],
  ];
  const counts = what.flatMap(([count, done]) =>
    count > 0 ? [`${count.toLocaleString('en')} ${done}`] : [],
  );
  if (last === null || counts.length === 0) return [];
  const bytes = since.sentBytes > 0 ? ` (${prettyBytes(since.sentBytes)})` : '';
  const [first = '', ...others] = counts;
  return [
    `  since then ${[`${first}${bytes}`, ...others].join(', ')}, the last ${describeSpan(nowMs - Date.parse(last))} ago`,
  ];
}

function describeVerification({ lastVerification }: Known, nowMs: number): string[] {
  if (!lastVerification) return [];
  return [
    `Last verification: ${ago(lastVerification.finishedAt, nowMs)}`,
    `  ${describeVerified(lastVerification)}`,
  ];
}

function until(moment: string, nowMs: number): string {
  return ms(Math.max(0, Date.parse(moment) - nowMs), { long: true });
}

/** Returns "now", or a time such as "in 4 min". */
function soon(moment: string, nowMs: number): string {
  const leftMs = Date.parse(moment) - nowMs;
  return leftMs < 1000 ? 'now' : `in ${describeSpan(leftMs)}`;
}

function ago(moment: string, nowMs: number): string {
  return `${describeSpan(nowMs - Date.parse(moment))} ago (${moment})`;
}
