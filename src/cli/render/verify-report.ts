import { placeOf } from '../../words/place.ts';
import type { DifferenceReason, FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import { describeVerified, DIFFERENCE_WORDS } from '../../words/verified.ts';
import { print } from './output.ts';
import { printJson } from './print-json.ts';
import { renderTable } from './table.ts';

/** So many files are named for each reason; the rest are counted. */
const NAMED_A_REASON = 20;

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
        DIFFERENCE_WORDS[reason],
        placeOf(source, path ?? key),
        detail,
      ]);
      const more = (reasons[reason] ?? 0) - files.length;
      return more > 0
        ? [...named, [DIFFERENCE_WORDS[reason], `… and ${more} more`, '--json lists them all']]
        : named;
    });
    return rows.length === 0 ? [] : [...renderTable(['Reason', 'File', 'Found'], rows), ''];
  }
}
