import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { GlobalOptions } from '../global-options.ts';
import { PassView } from './pass-view.ts';
import { VerifyReport } from './verify-report.ts';

/** What a person or a program sees of a comparison, and of a pass that repairs what it found. */
export class VerifyView extends PassView {
  readonly #report: VerifyReport;

  constructor(options: GlobalOptions) {
    super(options);
    this.#report = new VerifyReport(options.json);
  }

  /** A difference was found. */
  differenceFound(difference: FileDifference): void {
    this.#report.add(difference);
  }

  /** The comparison is over. */
  verified(verified: Verified): void {
    this.#report.end(verified);
  }
}
