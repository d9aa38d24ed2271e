import { placeOf } from './place.ts';
import type { DifferenceReason, FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import { print } from './output.ts';
import { printJson } from './print-json.ts';
import { renderTable } from './table.ts';

/** So many files are named for each reason; the rest are counted. */
const NAMED_A_REASON = 20;

/** What people read for a reason. */
const WORDS: Readonly<Record<DifferenceReason, string>> = {
  missing: 'missing',
  size: 'another size',
  content: 'another content',
  failed: 'failed',
  pending: 'pending',
  facts: 'other settings',
  replaced: 'replaced',
  unsent: 'not sent',
  'not-removed': 'not removed',
  orphan: 'orphan',
};

/** Tells what a comparison finds: each file as it is found with `--json`, else a table at the end. */
export class VerifyReport {
  readonly #json: boolean;
  readonly #named = new Map<DifferenceReason, FileDifference[]>();

  constructor(json: boolean) {
    this.#json = json;
  }

  /** A difference was found. */
  add(difference: FileDifference): void {
    const { key, source, path, reason, detail } = difference;
    if (this.#json) {
      printJson({ kind: 'verify', source, path, key, reason, detail });
      return;
    }
    const named = this.#named.get(reason) ?? [];
    this.#named.set(reason, named);
    if (named.length < NAMED_A_REASON) named.push(difference);
  }

  /** The comparison is over. */
  end(verified: Verified): void {
    if (this.#json) printJson({ kind: 'verification', ...verified });
    else print([...this.#table(verified), describeVerified(verified)].join('\n'));
  }

  #table({ reasons }: Verified): string[] {
    const rows = [...this.#named].flatMap(([reason, files]) => {
      const named = files.map(({ source, path, key, detail }) => [
        WORDS[reason],
        placeOf(source, path ?? key),
        detail,
      ]);
      const more = (reasons[reason] ?? 0) - files.length;
      return more > 0 ? [...named, [WORDS[reason], `… and ${more} more`, '--json lists them all']] : named;
    });
    return rows.length === 0 ? [] : [...renderTable(['Reason', 'File', 'Found'], rows), ''];
  }
}

/** The counts of a comparison in a line for people. */
export function describeVerified({ compared, same, foreign, busy, unread, reasons }: Verified): string {
  const found = Object.entries(reasons) as [DifferenceReason, number][];
  const rest = [
    ...found.map(([reason, count]) => counted(count, WORDS[reason])),
    ...(unread > 0 ? [counted(unread, 'could not be read')] : []),
    ...(busy > 0 ? [counted(busy, 'skipped, being sent')] : []),
    ...(foreign > 0 ? [counted(foreign, 'by others')] : []),
  ];
  const head = found.length === 0 && unread === 0 ? 'As it was sent' : 'NOT AS IT WAS SENT';
  return `${head}: ${counted(same, 'of')} ${counted(compared, compared === 1 ? 'file' : 'files')}${rest.length === 0 ? '' : `; ${rest.join(', ')}`}`;
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}`;
}
