import pLimit from 'p-limit';
import { type FileKey, compareUtf8 } from '../../domain/key.ts';
import { ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import { MOST_IDS, type CatalogFile, type ListedFile } from '../../domain/file-catalog.ts';
import { readMark } from '../../domain/mark.ts';
import type { PlatformListing } from '../../store/listing.ts';
import type { FoundFile } from '../../store/remote.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { ask, type AskPorts } from '../catalog/ask.ts';
import { compareFile, type CompareTerms, type Comparison, type FileDifference } from '../catalog/compare.ts';
import { readListing } from '../catalog/read-listing.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import type { FoundSource } from '../sources/source.ts';
import { checkContents, type ReadDigest } from './check-contents.ts';
import { Turns } from './turns.ts';
import type { Verified } from '../../domain/status.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { areMountsUnchanged } from '../sources/mounts.ts';
import { presenceOf } from '../sources/presence.ts';

export interface VerifyInput {
  readonly at: BotAtTarget;
  /** The sources that are synced to the bot. */
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly catalog: Pick<ServedCatalog, 'list' | 'get'>;
  readonly ports: AskPorts;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** Returns whether a task of the key is in progress. */
  readonly isBusy: (key: FileKey) => boolean;
  /** Reads the contents as well; `null`: sizes and marks are relied on. */
  readonly readDigest: ReadDigest | null;
  /** Called with each difference after it was confirmed by a second request. */
  readonly onDifference: (difference: FileDifference) => void;
  /** Called with each file that is as it should be. */
  readonly onSame: (sent: FileRecord, found: FoundFile) => void;
}

/** A difference between the records and the list, which may be outdated. */
interface Candidate {
  readonly key: FileKey;
  readonly sent: FileRecord | null;
  readonly listed: ListedFile | null;
}

const ASKED_TOGETHER = 8;

/** The longest lag of a list, milliseconds. */
const LONGEST_LAG_MS = 600_000;

/** Answers after which only the status of the file is unknown. */
const WITHOUT_FILE = new Set<OptionalFailure['kind']>(['not-found', 'not-served']);

/**
 * Compares the files of a bot with what was sent. The list may lag behind and changes while it is read, so every
 * difference is confirmed by another request before it is reported. Changes nothing.
 *
 * @throws {StateFileError}
 * @throws {ListingError}
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
  /** Files whose contents will be read. */
  #unread: FileRecord[] = [];

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
    const sent = state.recordsByKey(at.target);
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

  /** Compares the record and the listed file of one key. */
  #meet(sent: FileRecord | null, listed: ListedFile | null): void {
    const key = (sent?.key ?? listed?.key) as FileKey;
    // Files of a source that no longer syncs to this bot are left alone.
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

  #isBusy({ key, state, changedAtMs }: FileRecord): boolean {
    return state === 'sending' || changedAtMs >= this.#beganMs || this.#input.isBusy(key);
  }

  #note(sent: FileRecord, file: ListedFile | null, comparison: Comparison): void {
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
        if (comparison.difference.reason === 'orphan') {
          this.#noteOrphan(file, comparison.difference.detail);
          break;
        }
        this.#verified.compared += 1;
        this.#tell({ ...comparison.difference, ...sent, id: file?.id ?? null, content: null });
        break;
    }
  }

  #tell({ key, id, source, path, reason, detail, noted, content }: FileDifference): void {
    const { reasons } = this.#verified;
    reasons[reason] = (reasons[reason] ?? 0) + 1;
    this.#input.onDifference({ key, id, source, path, reason, detail, noted, content });
  }

  /** Rechecks apparent differences and reads contents, once there are at least `from` of them. */
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

  #isBusyNow({ key }: FileRecord): boolean {
    const now = this.#input.state.find({ target: this.#input.at.target, key });
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
    let failure: OptionalFailure | null = null;
    await pLimit(ASKED_TOGETHER).map(left, async (one) => {
      if (failure !== null) return;
      const own = await this.#askAgain(one);
      failure ??= own;
    });
    return failure;
  }

  /** Returns whether a current answer shows no difference. */
  #isSettledBy(key: FileKey, file: ListedFile): boolean {
    const sent = this.#input.state.find({ target: this.#input.at.target, key });
    if (sent === null) return false;
    const comparison = compareFile(sent, file, this.#terms);
    if (this.#isBusy(sent) || comparison.kind === 'different') return false;
    this.#note(sent, file, comparison);
    return true;
  }

  /** Requests one file, and reports the difference between the answer and the current record. */
  async #askAgain({ key, listed }: Candidate): Promise<OptionalFailure | null> {
    const { at, catalog, ports, state } = this.#input;
    const answered = await ask((signal) => catalog.get(at, key, signal), ports);
    if (answered.kind === 'failed' && !WITHOUT_FILE.has(answered.failure.kind)) return answered.failure;
    const isNotServed = answered.kind === 'failed' && answered.failure.kind === 'not-served';
    // Without this operation, only the list is known.
    const file = answered.kind === 'ok' ? answered.value : isNotServed ? listed : null;
    const sent = state.find({ target: at.target, key });
    const mayBeLate = isNotServed && (sent?.sentAtMs ?? 0) > this.#beganMs - LONGEST_LAG_MS;
    if (sent === null) this.#noteOrphan(file, 'it was sent by botsync, and is neither here nor recorded');
    else if (this.#isBusy(sent) || mayBeLate) this.#verified.busy += 1;
    else this.#note(sent, file, compareFile(sent, file, this.#terms));
    return null;
  }

  #noteOrphan(file: ListedFile | null, detail: string): void {
    if (file === null) return;
    const key = file.key as FileKey;
    const orphan = this.#input.isBusy(key) ? null : this.#sourceOfOrphan(file);
    if (orphan === null) {
      this.#verified.foreign += 1;
      return;
    }
    const sha256 = readMark(file.metadata)?.sha256 ?? '';
    const content = { sizeBytes: file.sizeBytes ?? 0, sha256 };
    this.#tell({ key, id: file.id, ...orphan, reason: 'orphan', detail, noted: null, content });
  }

  #sourceOfOrphan({ key, metadata }: ListedFile): { source: string; path: string } | null {
    const mark = readMark(metadata);
    const found = this.#input.sources.find(({ config }) => config.name === mark?.source);
    if (found === undefined) return null;
    const path = mayBeOrphan(found, key, this.#input.state);
    return path === null ? null : { source: found.config.name, path };
  }
}

/** Returns which of two lists, in key order, is behind the other. */
function orderOf(sent: FileRecord | null, listed: ListedFile | null): number {
  if (sent === null) return 1;
  return listed === null ? -1 : compareUtf8(sent.key, listed.key);
}

/**
 * Returns the path of the file that would produce a key, if the source can be checked and has no such file; otherwise
 * `null`. The files of a halted source are unknown.
 */
function mayBeOrphan(found: FoundSource, key: string, state: StateReader): string | null {
  const { name, keyPrefix } = found.config;
  const prefix = keyPrefix.normalize('NFC');
  if (found.kind !== 'found' || !key.startsWith(prefix) || key === prefix) return null;
  const { source } = found;
  if ((state.source(name)?.halt ?? null) !== null || !isStillThere(source) || !areMountsUnchanged(source))
    return null;
  const path = key.slice(prefix.length);
  // A key is normalized to NFC; the name of its file need not be.
  const isGone = [path, path.normalize('NFD')].every((one) => presenceOf(source, one) === 'gone');
  return isGone ? path : null;
}
