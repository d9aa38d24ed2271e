import ms from 'ms';
import prettyBytes from 'pretty-bytes';
import type { Config } from '../../config/config.ts';
import { askDaemon } from '../../service/ask-daemon.ts';
import type { LockHolder } from '../../service/process-lock.ts';
import type { DaemonActivity } from '../../sync/daemon/daemon-observer.ts';
import { overview, type Overview, type SourceStatus } from '../../sync/plan/overview.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Usages } from '../../domain/usage.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../library/load.ts';
import { print, printError, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { describeSummary } from '../render/pass-report.ts';
import { describeVerified } from '../render/verify-report.ts';
import { withStateFile } from '../../library/read-state-file.ts';
import { describeUsage, usageForPrograms } from '../render/usage-report.ts';
import type { Session } from '../session.ts';
import { whyNotAsked } from '../usage.ts';

/** So many failures are shown to people. */
const FAILURES_SHOWN = 20;

/** A daemon answers at once, unless it is stopped or swamped. */
const PATIENCE_MS = 5000;

/** What is known, by a running daemon or by the state file alone. */
interface Known {
  readonly seen: Overview;
  /** Who runs on the state file. */
  readonly daemon: RunningDaemon | null;
}

/** A running botsync; a pass tells no more than who it is. */
type RunningDaemon = LockHolder & Partial<DaemonActivity> & { readonly notReady?: readonly string[] };

/** Options of `botsync status`. */
export interface StatusOptions extends GlobalOptions {
  /** Whether the platform is asked for its quotas; without that nothing is. */
  readonly usage: boolean;
}

/** `botsync status`: what a running daemon says, else what the state file knows. Returns the exit code; throws `UsageError`. */
export async function status(options: StatusOptions): Promise<number> {
  const { config } = load(options);
  const known =
    (await askForStatus(config.stateFile)) ?? (await readStatus(config, platformName(options, config)));
  const { seen, daemon } = known;
  const tell = (asked: Usages | null): void => {
    if (options.json)
      printJson({ ...seen, daemon, ...(options.usage && { usage: asked && usageForPrograms(asked, null) }) });
    else {
      const nextStep = `botsync sync --once${alike(options)}`;
      const isAsked = config.platform.operations !== 'specified';
      const lines = describe(seen, daemon, Date.now(), { nextStep, isAsked });
      if (asked !== null)
        lines.push('', "Usage, in the platform's units:", ...indented(describeUsage(asked, null)));
      print(lines.join('\n'));
    }
  };
  if (options.usage) {
    const { withSession } = await import('../session.ts');
    return await withSession(options, 'status', (session) => withUsage(session, tell));
  }
  tell(null);
  return EXIT.ok;
}

/** Tells what is known with the usage, and without it where the platform does not tell. */
async function withUsage({ usage, signal }: Session, tell: (asked: Usages | null) => void): Promise<number> {
  const asked = await usage().all(signal);
  tell(asked.kind === 'ok' ? asked.value : null);
  if (asked.kind === 'failed' && !signal.aborted) printError(whyNotAsked(asked));
  return EXIT.ok;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

/** `null` when no daemon runs there, or none that answers us: its state file can be read all the same. */
async function askForStatus(stateFile: string): Promise<Known | null> {
  const answer = await askDaemon(stateFile, 'GET', '/status', AbortSignal.timeout(PATIENCE_MS));
  if (answer.kind !== 'ok' || answer.status !== 200) return null;
  const { daemon, ...seen } = JSON.parse(answer.body) as Overview & { daemon: RunningDaemon };
  return { seen, daemon };
}

function readStatus(config: Config, platform: string): Promise<Known> {
  return withStateFile(config.stateFile, ({ reader, holder }) => ({
    seen: overview(reader, config, platform, Date.now()),
    daemon: holder,
  }));
}

function describe(
  { sources, failures, lastPass, lastVerification }: Overview,
  daemon: RunningDaemon | null,
  nowMs: number,
  { nextStep, isAsked }: { readonly nextStep: string; readonly isAsked: boolean },
): string[] {
  const lines = sources.flatMap((source) => describeSource(source, nowMs, isAsked));
  lines.push('');
  if (daemon !== null) lines.push(...describeDaemon(daemon, nowMs));
  if (lastPass === null)
    lines.push(daemon === null ? `No pass has ended yet; run: ${nextStep}` : 'No pass has ended yet');
  else
    lines.push(
      `Last pass: ${ago(lastPass.finishedAt, nowMs)}, exit code ${lastPass.exitCode}`,
      ...describeSummary(lastPass.summary, false, lastPass.exitCode === EXIT.interrupted).map(
        (line) => `  ${line}`,
      ),
    );
  if (lastVerification)
    lines.push(
      `Last verification: ${ago(lastVerification.finishedAt, nowMs)}`,
      `  ${describeVerified(lastVerification)}`,
    );
  if (failures.length > 0) lines.push('', 'Not in sync:');
  for (const { source, path, kind, reason } of failures.slice(0, FAILURES_SHOWN)) {
    lines.push(`  ${shown(`${source}:${path}`)}: ${kind}: ${shown(reason)}`);
  }
  if (failures.length > FAILURES_SHOWN)
    lines.push(`  … and ${failures.length - FAILURES_SHOWN} more; --json lists them`);
  return lines;
}

function describeDaemon(daemon: RunningDaemon, nowMs: number): string[] {
  const { command, pid, since, activity, watchedDirectories = 0, queued = 0, sending = 0 } = daemon;
  const lines = [`Running now: ${command}, process ${pid}, since ${since}`];
  const notReady = (daemon.notReady ?? []).map((reason) => `  NOT READY: ${shown(reason)}`);
  if (activity === undefined) return [...lines, ...notReady];
  const doing = { starting: 'starting', pass: 'looking at everything', watching: 'watching for changes' }[
    activity
  ];
  lines.push(
    `  ${doing}; ${counted(watchedDirectories, 'directory', 'directories')} watched, ${counted(queued, 'change', 'changes')} waiting, ${counted(sending, 'file', 'files')} on their way`,
  );
  if (typeof daemon.blocked === 'string')
    lines.push(`  BLOCKED: ${shown(daemon.blocked)}; it is tried again`);
  if (daemon.outage) lines.push(`  ${describeOutage(daemon.outage, nowMs)}`);
  return [...lines, ...notReady];
}

/** A platform that cannot be reached: since when, and when it is tried again. */
function describeOutage(
  { since, nextTry, reason }: NonNullable<DaemonActivity['outage']>,
  nowMs: number,
): string {
  const leftMs = nextTry === null ? null : Math.max(0, Date.parse(nextTry) - nowMs);
  const when =
    leftMs === null ? 'with the next change' : leftMs < 1000 ? 'now' : `in ${ms(leftMs, { long: true })}`;
  const lastsMs = Math.max(0, nowMs - Date.parse(since));
  return `THE PLATFORM IS OUT OF REACH for ${ms(lastsMs, { long: true })} (since ${since}): ${reason}; it is tried again ${when}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function describeSource(source: SourceStatus, nowMs: number, isAsked: boolean): string[] {
  const { name, halted, files, bytes, unconfirmed, unsearchable } = source;
  const { failed, refused, kept, nextExpiry, expiring } = source;
  const words = isAsked ? describeWords(source) : '';
  const parts = [
    `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'} in sync, ${prettyBytes(bytes)}${words}`,
    ...(unconfirmed > 0 ? [`${unconfirmed.toLocaleString('en')} being indexed, or not confirmed yet`] : []),
    ...(unsearchable > 0 ? [`${unsearchable.toLocaleString('en')} NOT SEARCHABLE`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
    ...(refused > 0 ? [`${refused.toLocaleString('en')} refused`] : []),
    ...(kept > 0 ? [`${kept.toLocaleString('en')} kept on the platform (no longer synced)`] : []),
    ...(nextExpiry === null
      ? []
      : [`next expiry in ${ms(Date.parse(nextExpiry) - nowMs, { long: true })} (${nextExpiry})`]),
    ...(expiring > 0 ? [`${expiring.toLocaleString('en')} COULD NOT BE RENEWED IN TIME`] : []),
  ];
  return [`${shown(name)}: ${parts.join('; ')}`, ...(halted === null ? [] : [`  HALTED: ${shown(halted)}`])];
}

/** What the platform says of the files that are in sync. */
function describeWords({ files, stored, searchable }: SourceStatus): string {
  const known: readonly (readonly [number, string])[] = [
    [searchable, 'searchable'],
    [stored, 'stored'],
    [files - searchable - stored, 'sent, not confirmed'],
  ];
  const words = known.flatMap(([count, what]) =>
    count > 0 ? [`${count.toLocaleString('en')} ${what}`] : [],
  );
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

function ago(moment: string, nowMs: number): string {
  return `${ms(Math.max(0, nowMs - Date.parse(moment)), { long: true })} ago (${moment})`;
}
