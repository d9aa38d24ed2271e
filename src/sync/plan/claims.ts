import { type FileKey, type RelativePath, fileKey, compareUtf8 } from '../../domain/key.ts';
import type { Summary } from '../../domain/report.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { mayBeSent } from '../sources/presence.ts';
import type { FoundSource, Source } from '../sources/source.ts';

/** Who has a key. */
export type Claim =
  | { readonly kind: 'free' }
  /** The file of this record no longer exists, or comes later in the order: its record moves. */
  | { readonly kind: 'adopt'; readonly record: FileRecord }
  /** A file that comes earlier in the order has it. */
  | { readonly kind: 'taken'; readonly source: string; readonly path: string };

/** A file that produces a key. */
interface Claimant {
  readonly source: string;
  readonly path: RelativePath;
}

/**
 * Ensures that of several files that produce the same key only one is uploaded: the first in the order of the config,
 * then of paths. Files with a record need not ask, so that an unchanged tree costs nothing.
 */
export class Claims {
  readonly #state: StateReader;
  #sources: ReadonlyMap<string, Source> = new Map();
  /** Keys of files that have no record yet, but will. */
  readonly #underWay = new Map<string, Claimant>();
  /** By key: files that also produce it and did not get it. */
  readonly #others = new Map<string, Map<string, Claimant>>();
  /** Deleted files that are kept, and whose keys other files may produce, with the summary that counts them. */
  readonly #kept = new Map<string, Summary>();

  constructor(state: StateReader, sources: readonly FoundSource[]) {
    this.#state = state;
    this.meet(sources);
  }

  /** Takes the current sources, all of whose files are about to ask. */
  meet(sources: readonly FoundSource[]): void {
    this.#others.clear();
    this.#kept.clear();
    this.#sources = new Map(
      sources.flatMap((one) => (one.kind === 'found' ? [[one.config.name, one.source]] : [])),
    );
  }

  /** Decides who has the key of a file without a record. */
  claim(target: number, key: FileKey, source: Source, path: RelativePath): Claim {
    const claim = this.#decide(target, key, source, path);
    switch (claim.kind) {
      case 'free':
        break;
      case 'taken':
        this.#noteOther(target, key, { source: source.config.name, path });
        break;
      case 'adopt':
        this.#noteOther(target, key, claim.record);
        break;
    }
    return claim;
  }

  /** Takes the files that did not get a key: once it is free, they must ask again. */
  takeOthers(target: number, key: FileKey): readonly Claimant[] {
    const id = `${target} ${key}`;
    const others = [...(this.#others.get(id)?.values() ?? [])];
    this.#others.delete(id);
    return others;
  }

  countKept({ target, key }: RowId, source: Source, path: RelativePath, summary: Summary): void {
    summary.kept += 1;
    if (this.#canCollide(target, source, path)) this.#kept.set(`${target} ${key}`, summary);
  }

  /** Stops counting a file as kept, because its record moved to another file. */
  uncountKept({ target, key }: RowId, summary: Summary): void {
    const id = `${target} ${key}`;
    if (this.#kept.get(id) === summary) summary.kept -= 1;
    this.#kept.delete(id);
  }

  #noteOther(target: number, key: FileKey, { source, path }: Claimant): void {
    const id = `${target} ${key}`;
    const others = this.#others.get(id) ?? new Map<string, Claimant>();
    this.#others.set(id, others.set(`${source}\n${path}`, { source, path }));
  }

  #decide(target: number, key: FileKey, source: Source, path: RelativePath): Claim {
    const first = this.#underWay.get(`${target} ${key}`);
    if (first !== undefined && (first.source !== source.config.name || first.path !== path))
      return { kind: 'taken', ...first };
    const record = this.#state.find({ target, key });
    if (record === null) return { kind: 'free' };
    return this.#precedes(record, target, source, path)
      ? { kind: 'taken', source: record.source, path: record.path }
      : { kind: 'adopt', record };
  }

  /** Reserves a free key for a file that is about to be sent. */
  keep(target: number, key: FileKey, source: Source, path: RelativePath): void {
    if (this.#canCollide(target, source, path))
      this.#underWay.set(`${target} ${key}`, { source: source.config.name, path });
  }

  /** Releases a key: the file now has a record, or is not sent. */
  release(target: number, key: FileKey): void {
    this.#underWay.delete(`${target} ${key}`);
  }

  /** Returns whether the file of a record still exists, still produces the key, and comes before another file. */
  #precedes(record: FileRecord, target: number, source: Source, path: RelativePath): boolean {
    const owner = this.#sources.get(record.source);
    if (owner === undefined) return false;
    const order = owner.position - source.position || compareUtf8(record.path, path);
    if (order >= 0 || fileKey(owner.config.keyPrefix, record.path) !== record.key) return false;
    if (this.#state.targetId(owner.syncTarget) !== target || owner.filter.ignoresFile(record.path))
      return false;
    return mayBeSent(owner, record.path);
  }

  /**
   * Returns whether other files may produce the same key. Within a source, only names beyond ASCII can: NFC and NFD
   * variants.
   */
  #canCollide(target: number, source: Source, path: RelativePath): boolean {
    if (NOT_ASCII.test(path)) return true;
    return [...this.#sources.values()].some(
      (other) => other !== source && this.#state.targetId(other.syncTarget) === target,
    );
  }
}

const NOT_ASCII = /[^\u0020-\u007e]/u;
