import type { FileEvent, Summary } from '../domain/report.ts';
import { withoutColour, type Paint, type Style } from '../service/colour.ts';
import type { Words } from '../service/logger.ts';
import { bytesText, countText, durationText } from '../service/amounts.ts';
import { escapeControls as shown } from '../domain/escape.ts';
import { haltNotice, type HaltFacts } from './halt.ts';
import { placeOf } from './place.ts';

/** Files named for each reason; the rest are counted. */
const NAMED_A_REASON = 5;

/** Reasons shown, each with its files. */
const REASONS_SHOWN = 20;

interface Title {
  readonly text: string;
  readonly style: Style;
}

const FAILED: Title = { text: 'Failed', style: 'failure' };
const HALTED: Title = { text: 'Halted', style: 'halted' };
const TITLES: Readonly<Record<string, Title>> = {
  refuse: { text: 'Refused', style: 'warning' },
  problem: { text: 'Problems', style: 'warning' },
};

interface Group {
  readonly title: Title;
  readonly reason: string;
  readonly names: string[];
  count: number;
}

/** Collects problems by reason, for any number of files. */
export class TroubleList {
  readonly #groups = new Map<string, Group>();
  #more = 0;

  /** Ignores events that are no problem. */
  add(event: FileEvent): void {
    const title = event.outcome === 'failed' ? FAILED : TITLES[event.kind];
    if (title !== undefined) this.#add(title, event.error ?? event.reason, placeOf(event.source, event.path));
  }

  addHalt({ source, halt, howToApprove }: HaltFacts): void {
    this.#add(HALTED, haltNotice(halt, howToApprove), source);
  }

  #add(title: Title, reason: string, name: string): void {
    const id = `${title.text}\n${reason}`;
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
    if (group.names.length < NAMED_A_REASON) group.names.push(name);
  }

  /** Returns the list as lines, none without a problem. */
  lines(paint: Paint): string[] {
    const lines: string[] = [];
    for (const { title, reason, names, count } of this.#groups.values()) {
      lines.push('', `${paint(title.style, `${title.text} (${count}):`)} ${shown(reason)}`);
      lines.push(...names.map((name) => `  ${shown(name)}`));
      if (count > names.length) lines.push(`  … and ${count - names.length} more`);
    }
    if (this.#more > 0)
      lines.push('', `… and ${this.#more} more files with other reasons; --json lists them all`);
    return lines;
  }
}

export interface SummaryOptions {
  readonly paint?: Paint;
  /** Files that should have been sent and were not attempted. */
  readonly notReached?: number;
}

/** Returns the counts of a pass as one or two lines. */
export function describeSummary(
  summary: Summary,
  isDryRun: boolean,
  isCutShort: boolean,
  { paint = withoutColour, notReached = 0 }: SummaryOptions = {},
): string[] {
  const { overwritten } = summary;
  const { style, head, rest } = summaryWords(summary, isDryRun, isCutShort);
  const left = isCutShort && notReached > 0 ? `; ${countText(notReached, 'file')} to send not attempted` : '';
  const lines = [`${style === null ? head : paint(style, head)}${rest}${left}`];
  if (overwritten > 0) {
    const sent = isDryRun ? 'to upload' : 'uploaded';
    lines.push(`  ${overwritten.toLocaleString('en')} ${sent} over files without botsync's mark`);
  }
  return lines;
}

export function summaryWords(summary: Summary, isDryRun: boolean, isCutShort: boolean): Words {
  const { uploaded, renewed, updated, removed, refused, failed, problems, pending } = summary;
  // Summaries stored by earlier versions may lack these fields.
  const { unconfirmed = 0 } = summary as Partial<Summary>;
  const sent = uploaded + renewed + updated + removed;
  const astray = refused + failed + problems + pending;
  const rest = `: ${describeDone(summary, isDryRun)}`;
  const words = (style: Style | null, head: string): Words => ({ style, head, rest });
  if (isDryRun) return words(null, 'Dry run, nothing was sent');
  if (isCutShort) return words('failure', 'NOT IN SYNC, and the pass is incomplete');
  if (astray > 0) return words('failure', 'NOT IN SYNC');
  if (unconfirmed > 0) return words('warning', 'Sent, but the platform has not confirmed everything yet');
  return words('ok', sent === 0 ? 'In sync, nothing had to be sent' : 'In sync');
}

/** Returns the counts of a pass, or of a plan, without a verdict, which may be out of date. */
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
  // Summaries stored by earlier versions may lack these fields.
  const { unconfirmed = 0, toRemove = 0 } = summary as Partial<Summary>;
  const took = durationText(summary.durationMs);
  const what = [
    counted(uploaded, isDryRun ? 'to upload' : 'uploaded'),
    counted(renewed, isDryRun ? 'to renew' : 'renewed'),
    counted(updated, isDryRun ? 'to change in place' : 'with other settings'),
    counted(adopted, 'on the platform already'),
    counted(removed, isDryRun ? 'to remove' : 'removed'),
    counted(unchanged, 'unchanged'),
    counted(kept, 'kept on the platform (no longer synced)'),
    counted(toRemove, toRemove === 1 ? 'removal waiting' : 'removals waiting'),
    counted(skipped, 'skipped'),
    counted(refused, 'refused'),
    counted(failed, 'failed'),
    counted(problems, problems === 1 ? 'problem' : 'problems'),
    counted(pending, 'pending'),
    counted(unconfirmed, 'not confirmed yet'),
  ].filter((part) => part !== null);
  const bytes = summary.bytes > 0 ? `, ${bytesText(summary.bytes)}` : '';
  return `${what.length === 0 ? 'no files' : what.join(', ')}${bytes} (${took})`;
}

function counted(count: number, what: string): string | null {
  return count === 0 ? null : `${count.toLocaleString('en')} ${what}`;
}
