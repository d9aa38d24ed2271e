import type { FileKey } from '../../domain/brands.ts';
import { ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import { MOST_IDS, type CatalogFile, type ListedFile } from '../../domain/file-catalog.ts';
import { readMark } from '../../domain/mark.ts';
import { compareUtf8 } from '../../domain/path-order.ts';
import type { PlatformListing } from '../../state/listing.ts';
import type { FoundFile } from '../../state/remote-store.ts';
import type { SentFile } from '../../state/sent-files.ts';
import type { StateReader } from '../../state/state-reader.ts';
import { ask, type AskPorts } from '../catalog/ask.ts';
import {
  compareFile,
  type CompareTerms,
  type Comparison,
  type DifferenceReason,
  type FileDifference,
} from '../catalog/compare.ts';
import { readListing } from '../catalog/read-listing.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import type { FoundSource } from '../sources/source.ts';
import { checkContents, type ReadDigest } from './check-contents.ts';
import { mayBeOrphan } from './orphans.ts';
import { Turns } from './turns.ts';

/** What a comparison came to. */
export interface Verified {
  /** Files on record that were compared. */
  compared: number;
  /** Of these, files that are there as they should be. */
  same: number;
  /** Files of the bot that are not ours. */
  foreign: number;
  /** Files that were being sent, or changed, in the meantime. */
  busy: number;
  /** Files whose content could not be read. */
  unread: number;
  readonly reasons: Partial<Record<DifferenceReason, number>>;
}

/** What one bot is compared by. */
export interface VerifyInput {
  readonly at: BotAtTarget;
  /** Those that are kept at the bot. */
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly catalog: Pick<ServedCatalog, 'list' | 'get'>;
  readonly ports: AskPorts;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** Whether something is being done to a key just now. */
  readonly isBusy: (key: FileKey) => boolean;
  /** Reads the contents as well; `null`: they are taken to be what their sizes and marks say. */
  readonly readDigest: ReadDigest | null;
  /** Told of each difference, once it was asked for again. */
  readonly onDifference: (difference: FileDifference) => void;
  /** Told of each file that is there as it should be. */
  readonly onSame: (sent: SentFile, found: FoundFile) => void;
}

/** A difference between the records and the list, which may be out of date. */
interface Candidate {
  readonly key: FileKey;
  readonly sent: SentFile | null;
  readonly listed: ListedFile | null;
}

/** So many files are asked for at a time. */
const ASKED_TOGETHER = 8;

/** A list lags behind by no more than this, milliseconds. */
const LONGEST_LAG_MS = 600_000;

/** Answers that leave open only the status of the file. */
const WITHOUT_FILE = new Set<OptionalFailure['kind']>(['not-found', 'not-served']);

/**
 * Compares all that a bot has with what it was sent. The list may lag behind, and changes while it is read: every
 * difference is asked for again before it is told. Changes nothing. Throws `StateFileError` and `ListingError`.
 */
export async function verify(input: VerifyInput): Promise<Outcome<Verified, OptionalFailure>> {
  const beganMs = input.ports.clock.now();
  const listing = await readListing(input.at, input.catalog, input.ports);
  if (listing.kind === 'failed') return listing;
  try {
    return await new Verification(input, beganMs).run(listing.value);
  } finally {
    listing.value.close();
  }
}

class Verification {
  readonly #input: VerifyInput;
  readonly #beganMs: number;
  readonly #names: ReadonlySet<string>;
  readonly #verified: Verified = { compared: 0, same: 0, foreign: 0, busy: 0, unread: 0, reasons: {} };
  readonly #terms: CompareTerms;
  #candidates: Candidate[] = [];
  /** Files whose contents are to be read. */
  #unread: SentFile[] = [];

  constructor(input: VerifyInput, beganMs: number) {
    this.#input = input;
    this.#beganMs = beganMs;
    this.#names = new Set(input.sources.map(({ config }) => config.name));
    const { state, platformNow } = input;
    this.#terms = {
      get nowMs() {
        return platformNow();
      },
      toldSettings: (digest) => state.remote.toldSettings(digest),
    };
  }

  async run(listing: PlatformListing): Promise<Outcome<Verified, OptionalFailure>> {
    const { state, at, ports } = this.#input;
    const turns = new Turns(ports.clock);
    const sent = state.sent.byKey(at.target);
    const listed = listing.byKey();
    while (!ports.stop.aborted && (sent.current !== null || listed.current !== null)) {
      const order = orderOf(sent.current, listed.current);
      this.#meet(order <= 0 ? sent.current : null, order >= 0 ? listed.current : null);
      if (order <= 0) sent.advance();
      if (order >= 0) listed.advance();
      const failure = await this.#settle(MOST_IDS);
      if (failure !== null) return { kind: 'failed', failure };
      const turn = turns.step();
      if (turn !== null) await turn;
    }
    const failure = await this.#settle(1);
    if (failure !== null) return { kind: 'failed', failure };
    if (!ports.stop.aborted) return ok(this.#verified);
    return { kind: 'failed', failure: { kind: 'transient', message: 'interrupted' } };
  }

  /** Compares what stands on both lists under one key. */
  #meet(sent: SentFile | null, listed: ListedFile | null): void {
    const key = (sent?.key ?? listed?.key) as FileKey;
    // What a source holds that is not kept here any more is left alone.
    if (sent !== null && !this.#names.has(sent.source)) return;
    if (sent === null) {
      if (listed !== null && this.#sourceOfOrphan(listed) !== null)
        this.#candidates.push({ key, sent, listed });
      else this.#verified.foreign += 1;
      return;
    }
    if (this.#isBusy(sent)) {
      this.#verified.busy += 1;
      return;
    }
    const comparison = compareFile(sent, listed, this.#terms);
    if (comparison.kind === 'different' && comparison.difference.reason !== 'unsent')
      this.#candidates.push({ key, sent, listed });
    else this.#note(sent, listed, comparison);
  }

  #isBusy({ key, state, changedAtMs }: SentFile): boolean {
    return state === 'sending' || changedAtMs >= this.#beganMs || this.#input.isBusy(key);
  }

  #note(sent: SentFile, file: ListedFile | null, comparison: Comparison): void {
    switch (comparison.kind) {
      case 'none':
        break;
      case 'same':
        this.#verified.compared += 1;
        this.#verified.same += 1;
        this.#input.onSame(sent, comparison.found);
        if (this.#input.readDigest !== null && sent.sha256 !== null) this.#unread.push(sent);
        break;
      case 'different':
        this.#verified.compared += 1;
        this.#tell({ ...comparison.difference, ...sent, id: file?.id ?? null });
        break;
    }
  }

  #tell({ key, id, source, path, reason, detail, noted }: FileDifference): void {
    const { reasons } = this.#verified;
    reasons[reason] = (reasons[reason] ?? 0) + 1;
    this.#input.onDifference({ key, id, source, path, reason, detail, noted });
  }

  /** Asks again for what seems to differ, and reads contents, once there are so many. */
  async #settle(from: number): Promise<OptionalFailure | null> {
    if (this.#candidates.length >= from) {
      const failure = await this.#recheck(this.#candidates.splice(0));
      if (failure !== null) return failure;
    }
    const { readDigest } = this.#input;
    if (this.#unread.length < from || readDigest === null) return null;
    await checkContents(this.#unread.splice(0), readDigest, {
      ...this.#input,
      isBusy: (sent) => this.#isBusyNow(sent),
      tell: (difference) => {
        this.#verified.same -= 1;
        this.#tell(difference);
      },
      unread: () => {
        this.#verified.unread += 1;
      },
    });
    return null;
  }

  #isBusyNow({ key }: SentFile): boolean {
    const now = this.#input.state.sent.find(this.#input.at.target, key);
    return now === null || this.#isBusy(now);
  }

  async #recheck(candidates: readonly Candidate[]): Promise<OptionalFailure | null> {
    const { at, catalog, ports } = this.#input;
    const ids = [...new Set(candidates.flatMap(({ sent, listed }) => sent?.remoteId ?? listed?.id ?? []))];
    const byId = new Map<string, CatalogFile>();
    if (ids.length > 0) {
      const listed = await ask((signal) => catalog.list(at, { kind: 'ids', ids }, signal), ports);
      if (listed.kind === 'failed') return listed.failure;
      for (const file of listed.value.files) byId.set(file.id, file);
    }
    const left = candidates.filter(({ key, sent, listed }) => {
      const file = byId.get(sent?.remoteId ?? listed?.id ?? '');
      return file?.key !== key || !this.#isSettledBy(key, file);
    });
    for (let next = left.splice(0, ASKED_TOGETHER); next.length > 0; next = left.splice(0, ASKED_TOGETHER)) {
      const failures = await Promise.all(next.map((one) => this.#askAgain(one)));
      const failure = failures.find((one) => one !== null) ?? null;
      if (failure !== null) return failure;
    }
    return null;
  }

  /** Whether nothing is different any more, by an answer of now. */
  #isSettledBy(key: FileKey, file: ListedFile): boolean {
    const sent = this.#input.state.sent.find(this.#input.at.target, key);
    if (sent === null) return false;
    const comparison = compareFile(sent, file, this.#terms);
    if (this.#isBusy(sent) || comparison.kind === 'different') return false;
    this.#note(sent, file, comparison);
    return true;
  }

  /** Asks for one file, and tells what is different by the answer, and by the record as it is then. */
  async #askAgain({ key, listed }: Candidate): Promise<OptionalFailure | null> {
    const { at, catalog, ports, state } = this.#input;
    const answered = await ask((signal) => catalog.get(at, key, signal), ports);
    if (answered.kind === 'failed' && !WITHOUT_FILE.has(answered.failure.kind)) return answered.failure;
    const isNotServed = answered.kind === 'failed' && answered.failure.kind === 'not-served';
    // Then the list is all there is to go by.
    const file = answered.kind === 'ok' ? answered.value : isNotServed ? listed : null;
    const sent = state.sent.find(at.target, key);
    const mayBeLate = isNotServed && (sent?.sentAtMs ?? 0) > this.#beganMs - LONGEST_LAG_MS;
    if (sent === null) this.#noteOrphan(file);
    else if (this.#isBusy(sent) || mayBeLate) this.#verified.busy += 1;
    else this.#note(sent, file, compareFile(sent, file, this.#terms));
    return null;
  }

  #noteOrphan(file: ListedFile | null): void {
    if (file === null) return;
    const key = file.key as FileKey;
    const orphan = this.#input.isBusy(key) ? null : this.#sourceOfOrphan(file);
    if (orphan === null) {
      this.#verified.foreign += 1;
      return;
    }
    const detail = 'it was sent by botsync, and is neither here nor recorded';
    this.#tell({ key, id: file.id, ...orphan, reason: 'orphan', detail, noted: null });
  }

  #sourceOfOrphan({ key, metadata }: ListedFile): { source: string; path: string } | null {
    const mark = readMark(metadata);
    const found = this.#input.sources.find(({ config }) => config.name === mark?.source);
    if (found === undefined) return null;
    const path = mayBeOrphan(found, key, this.#input.state);
    return path === null ? null : { source: found.config.name, path };
  }
}

/** Which of two lists, in the order of keys, is behind the other. */
function orderOf(sent: SentFile | null, listed: ListedFile | null): number {
  if (sent === null) return 1;
  return listed === null ? -1 : compareUtf8(sent.key, listed.key);
}
