import prettyBytes from 'pretty-bytes';
import type { FileEvent, Summary } from '../../domain/report.ts';
import { shown } from './output.ts';

/** So many files are named for each reason; the rest are counted. */
const NAMED_A_REASON = 5;

/** So many reasons are shown; each has its own line of files. */
const REASONS_SHOWN = 20;

const TITLES: Readonly<Record<string, string>> = {
  failed: 'Failed',
  refuse: 'Refused',
  problem: 'Problems',
};

interface Group {
  readonly title: string;
  readonly reason: string;
  readonly names: string[];
  count: number;
}

/** Gathers what went wrong by reason, however many files it was. */
export class TroubleList {
  readonly #groups = new Map<string, Group>();
  #more = 0;

  /** Takes note of an event that is trouble; passes over all others. */
  add(event: FileEvent): void {
    const title = event.outcome === 'failed' ? TITLES['failed'] : TITLES[event.kind];
    if (title === undefined) return;
    const reason = event.error ?? event.reason;
    const id = `${title}\n${reason}`;
    let group = this.#groups.get(id);
    if (group === undefined) {
      if (this.#groups.size === REASONS_SHOWN) {
        this.#more += 1;
        return;
      }
      group = { title, reason, names: [], count: 0 };
      this.#groups.set(id, group);
    }
    group.count += 1;
    if (group.names.length < NAMED_A_REASON) group.names.push(`${event.source}:${event.path}`);
  }

  /** The list as lines for people, empty when there was no trouble. */
  lines(): string[] {
    const lines: string[] = [];
    for (const { title, reason, names, count } of this.#groups.values()) {
      lines.push('', `${title} (${count}): ${shown(reason)}`);
      lines.push(...names.map((name) => `  ${shown(name)}`));
      if (count > names.length) lines.push(`  … and ${count - names.length} more`);
    }
    if (this.#more > 0)
      lines.push('', `… and ${this.#more} more files with other reasons; --json lists them all`);
    return lines;
  }
}

/** The counts of a pass as one or two lines for people. */
export function describeSummary(summary: Summary, isDryRun: boolean, isCutShort: boolean): string[] {
  const { overwritten } = summary;
  const lines = [describeCounts(summary, isDryRun, isCutShort)];
  if (overwritten > 0) {
    const sent = isDryRun ? 'to upload' : 'uploaded';
    lines.push(`  ${overwritten.toLocaleString('en')} ${sent} over files that do not carry botsync's mark`);
  }
  return lines;
}

function describeCounts(summary: Summary, isDryRun: boolean, isCutShort: boolean): string {
  const { uploaded, renewed, updated, removed, refused, failed, problems, pending } = summary;
  // What an earlier version wrote down does not have it.
  const { unconfirmed = 0 } = summary as Partial<Summary>;
  const sent = uploaded + renewed + updated + removed;
  const astray = refused + failed + problems + pending;
  const counts = describeDone(summary, isDryRun);
  if (isDryRun) return `Dry run, nothing was sent: ${counts}`;
  if (isCutShort) return `NOT IN SYNC, and not everything was looked at: ${counts}`;
  if (astray > 0) return `NOT IN SYNC: ${counts}`;
  if (unconfirmed > 0) return `Sent, but the platform has not confirmed everything yet: ${counts}`;
  return sent === 0 ? `In sync, nothing had to be sent: ${counts}` : `In sync: ${counts}`;
}

/** What a pass did, or would do, in counts: how things stood then is not said, as it may have changed since. */
export function describeDone(summary: Summary, isDryRun: boolean): string {
  const {
    uploaded,
    renewed,
    updated,
    adopted,
    removed,
    unchanged,
    skipped,
    refused,
    failed,
    problems,
    kept,
    pending,
  } = summary;
  // What an earlier version wrote down does not have it.
  const { unconfirmed = 0 } = summary as Partial<Summary>;
  const took = `${(summary.durationMs / 1000).toFixed(1)} s`;
  const what = [
    counted(uploaded, isDryRun ? 'to upload' : 'uploaded'),
    counted(renewed, isDryRun ? 'to renew' : 'renewed'),
    counted(updated, isDryRun ? 'whose settings are to change' : 'with other settings'),
    counted(adopted, 'on the platform already'),
    counted(removed, isDryRun ? 'to remove' : 'removed'),
    counted(unchanged, 'unchanged'),
    counted(kept, 'kept on the platform (no longer synced)'),
    counted(skipped, 'skipped'),
    counted(refused, 'refused'),
    counted(failed, 'failed'),
    counted(problems, problems === 1 ? 'problem' : 'problems'),
    counted(pending, 'pending'),
    counted(unconfirmed, 'not confirmed yet'),
  ].filter((part) => part !== null);
  const bytes = summary.bytes > 0 ? `, ${prettyBytes(summary.bytes)}` : '';
  return `${what.length === 0 ? 'no files' : what.join(', ')}${bytes} (${took})`;
}

function counted(count: number, what: string): string | null {
  return count === 0 ? null : `${count.toLocaleString('en')} ${what}`;
}
