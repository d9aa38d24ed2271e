import { sizeInFingerprint } from '../../domain/fingerprint.ts';
import { AdditionCount, type Additions, type Counted } from '../../domain/usage.ts';
import type { StateReader } from '../../state/state-reader.ts';
import type { PlannedSend } from './plan-item.ts';

/** Counts what the files that a plan sends take of the platform's quotas. What it removes is still there while it sends. */
export class PlannedAdditions {
  readonly #state: StateReader;
  readonly #count = new AdditionCount();
  /** By digest of settings; `null`: not on record. */
  readonly #wasIndexed = new Map<string, boolean | null>();

  constructor(state: StateReader) {
    this.#state = state;
  }

  /** Takes a file that is to be sent. Throws `StateFileError`. */
  add({ sizeBytes, resolved, record }: PlannedSend): void {
    const { index: isIndexed } = resolved.settings;
    const before: Counted | null =
      record?.state === 'synced'
        ? {
            sizeBytes: sizeInFingerprint(record.fingerprint),
            isIndexed: this.#indexedUnder(record.settingsDigest) ?? isIndexed,
          }
        : null;
    this.#count.add({ sizeBytes, isIndexed }, before);
  }

  /** What all of them add. */
  get additions(): Additions {
    return this.#count.additions;
  }

  #indexedUnder(digest: string): boolean | null {
    const known = this.#wasIndexed.get(digest);
    if (known !== undefined) return known;
    const told = this.#state.remote.toldSettings(digest)?.index ?? null;
    this.#wasIndexed.set(digest, told);
    return told;
  }
}
