import ms from 'ms';
import prettyBytes from 'pretty-bytes';
import type { LockHolder } from '../../service/process-lock.ts';
import { overview, type Overview, type SourceStatus } from '../../sync/overview.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../load.ts';
import { print, shown } from '../output.ts';
import { describeSummary } from '../pass-report.ts';
import { readStateFile } from '../read-state-file.ts';

/** So many failures are shown to people. */
const FAILURES_SHOWN = 20;

/** `botsync status`: what the state file knows. Returns the exit code; throws `UsageError`. */
export function status(options: GlobalOptions): number {
  const { config } = load(options);
  const { reader, holder, close } = readStateFile(config.stateFile);
  try {
    const nowMs = Date.now();
    const seen = overview(reader, config, platformName(options, config), nowMs);
    print(
      options.json ? JSON.stringify({ ...seen, daemon: holder }) : describe(seen, holder, nowMs).join('\n'),
    );
    return EXIT.ok;
  } finally {
    close();
  }
}

function describe(
  { sources, failures, lastPass }: Overview,
  holder: LockHolder | null,
  nowMs: number,
): string[] {
  const lines = sources.flatMap((source) => describeSource(source, nowMs));
  lines.push('');
  if (holder !== null)
    lines.push(`Running now: ${holder.command}, process ${holder.pid}, since ${holder.since}`);
  if (lastPass === null) lines.push('No pass has been made yet; run: botsync sync --once');
  else
    lines.push(
      `Last pass: ${ago(lastPass.finishedAt, nowMs)}, exit code ${lastPass.exitCode}`,
      ...describeSummary(lastPass.summary, false, lastPass.exitCode === EXIT.interrupted).map(
        (line) => `  ${line}`,
      ),
    );
  if (failures.length > 0) lines.push('', 'Not in sync:');
  for (const { source, path, kind, reason } of failures.slice(0, FAILURES_SHOWN)) {
    lines.push(`  ${shown(`${source}:${path}`)}: ${kind}: ${shown(reason)}`);
  }
  if (failures.length > FAILURES_SHOWN)
    lines.push(`  … and ${failures.length - FAILURES_SHOWN} more; --json lists them`);
  return lines;
}

function describeSource(
  { name, halted, files, bytes, failed, refused, kept, nextExpiry }: SourceStatus,
  nowMs: number,
): string[] {
  const parts = [
    `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'} in sync, ${prettyBytes(bytes)}`,
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
    ...(refused > 0 ? [`${refused.toLocaleString('en')} refused`] : []),
    ...(kept > 0 ? [`${kept.toLocaleString('en')} kept on the platform without a local file`] : []),
    ...(nextExpiry === null
      ? []
      : [`next expiry in ${ms(Date.parse(nextExpiry) - nowMs, { long: true })} (${nextExpiry})`]),
  ];
  return [`${shown(name)}: ${parts.join('; ')}`, ...(halted === null ? [] : [`  HALTED: ${shown(halted)}`])];
}

function ago(moment: string, nowMs: number): string {
  return `${ms(Math.max(0, nowMs - Date.parse(moment)), { long: true })} ago (${moment})`;
}
