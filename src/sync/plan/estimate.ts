import type { Clock } from '../../domain/clock.ts';
import { AdditionCount, type Additions, type Counted } from '../../domain/usage.ts';
import { isPlannedSend, type PlannedSend } from './plan-item.ts';
import { lookAhead, type LookAheadInput } from './look-ahead.ts';
import { Turns } from './turns.ts';
import { sizeInFingerprint } from '../../domain/fingerprint.ts';
import type { StateReader } from '../../store/state-reader.ts';

/** The amount that a pass will send. */
export interface Estimate {
  readonly files: number;
  readonly bytes: number;
  /** Additional use of the platform's quotas. */
  readonly additions: Additions;
}

/**
 * Calculates what a pass will send, before it begins. Returns `null` when stopped.
 *
 * @param seen - called with the number of files checked so far.
 */
export async function estimate(
  input: LookAheadInput,
  clock: Clock,
  stop: AbortSignal,
  seen: (files: number) => void = () => undefined,
): Promise<Estimate | null> {
  let looked = 0;
  let files = 0;
  let bytes = 0;
  const added = new PlannedAdditions(input.state);
  const turns = new Turns(clock);
  for (const ahead of lookAhead(input)) {
    if (stop.aborted) return null;
    if (ahead.kind === 'item' && ahead.item.kind !== 'tick' && ahead.item.kind !== 'absent') seen(++looked);
    if (
      ahead.kind === 'item' &&
      isPlannedSend(ahead.item) &&
      ahead.item.kind === 'send' &&
      !ahead.item.isInPlace
    ) {
      files += 1;
      bytes += ahead.item.sizeBytes;
      added.add(ahead.item);
    }
    const turn = turns.step();
    if (turn !== null) await turn;
  }
  return { files, bytes, additions: added.additions };
}

/**
 * Calculates the additional use of the platform's quotas by planned files. Removals do not count, because they follow
 * the uploads.
 */
export class PlannedAdditions {
  readonly #state: StateReader;
  readonly #count = new AdditionCount();
  /** By digest of settings; `null`: not on record. */
  readonly #wasIndexed = new Map<string, boolean | null>();

  constructor(state: StateReader) {
    this.#state = state;
  }

  /**
   * Adds a file that will be sent.
   *
   * @throws {StateFileError}
   */
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
