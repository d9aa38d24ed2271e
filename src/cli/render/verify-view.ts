import type { DifferenceReason, Verified } from '../../domain/status.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { placeOf } from '../../words/place.ts';
import { describeVerified, DIFFERENCE_WORDS } from '../../words/verified.ts';
import { listener } from '../../sync/events.ts';
import type { GlobalOptions } from '../global-options.ts';
import { print, printJson } from './output.ts';
import { PassView } from './pass-view.ts';
import { renderTable } from './text-layout.ts';

export interface VerifyOptions extends GlobalOptions {
  /** Also compare contents. */
  readonly content: boolean;
  /** Repair files that were sent by botsync. */
  readonly repair: boolean;
  /** Remove orphans. */
  readonly prune: boolean;
  readonly allowRemovals: boolean;
}

/** Further files of the same reason are only counted. */
const NAMED_A_REASON = 20;

/** The output of a comparison, and of the pass that repairs what it found. */
export class VerifyView extends PassView {
  readonly #isJson: boolean;
  readonly #named = new Map<DifferenceReason, FileDifference[]>();

  constructor(options: GlobalOptions) {
    super(options);
    this.#isJson = options.json;
  }

  /** Prints the results of a comparison. */
  readonly comparison = listener({
    difference: ({ difference }) => {
      const { key, source, path, reason, detail } = difference;
      if (this.#isJson) {
        printJson({ kind: 'verify', source, path, key, reason, detail });
        return;
      }
      const named = this.#named.get(reason) ?? [];
      this.#named.set(reason, named);
      if (named.length < NAMED_A_REASON) named.push(difference);
    },
    verified: ({ verified }) => {
      if (this.#isJson) printJson({ kind: 'verification', ...verified });
      else print([...this.#table(verified), describeVerified(verified)].join('\n'));
    },
  });

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
