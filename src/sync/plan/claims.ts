import { type FileKey, type RelativePath, fileKey } from '../../domain/key.ts';
import { compareUtf8 } from '../../domain/path-order.ts';
import type { Summary } from '../../domain/report.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { mayBeSent } from '../sources/presence.ts';
import type { FoundSource, Source } from '../sources/source.ts';

/** Who may have a key. */
export type Claim =
  /** Nobody has it. */
  | { readonly kind: 'free' }
  /** A file has it that is no more, or that stands behind: its record goes over. */
  | { readonly kind: 'adopt'; readonly record: FileRecord }
  /** A file has it that stands before. */
  | { readonly kind: 'taken'; readonly source: string; readonly path: string };

/** A file that gives a key. */
interface Claimant {
  readonly source: string;
  readonly path: RelativePath;
}

/**
 * Sees to it that of several files that give one key only one is uploaded: the first in the order of the config, then
 * of paths. Files that have a record of their own never come here, so that an unchanged tree costs nothing.
 */
export class Claims {
  readonly #state: StateReader;
  #sources: ReadonlyMap<string, Source> = new Map();
  /** Keys of files that are on their way to a record of their own. */
  readonly #underWay = new Map<string, Claimant>();
  /** Of each key: files that give it as well, and did not get it. */
  readonly #others = new Map<string, Map<string, Claimant>>();
  /** Of files that are gone and left alone, and whose keys others may give: the summary that counts them. */
  readonly #kept = new Map<string, Summary>();

  constructor(state: StateReader, sources: readonly FoundSource[]) {
    this.#state = state;
    this.meet(sources);
  }

  /** Takes the sources as they are now: all of their files are about to ask. */
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

  /** The files that asked for a key and did not get it: once it is free they have to ask again. */
  takeOthers(target: number, key: FileKey): readonly Claimant[] {
    const id = `${target} ${key}`;
    const others = [...(this.#others.get(id)?.values() ?? [])];
    this.#others.delete(id);
    return others;
  }

  /** Counts a file that is gone and left alone. */
  countKept({ target, key }: RowId, source: Source, path: RelativePath, summary: Summary): void {
    summary.kept += 1;
    if (this.#canCollide(target, source, path)) this.#kept.set(`${target} ${key}`, summary);
  }

  /** Takes a file back from what a summary counts as kept, if it does: its record went over to another. */
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

  /** Keeps a free key for a file that is about to be sent. */
  keep(target: number, key: FileKey, source: Source, path: RelativePath): void {
    if (this.#canCollide(target, source, path))
      this.#underWay.set(`${target} ${key}`, { source: source.config.name, path });
  }

  /** The file has its own record now, which speaks for it, or is not sent. */
  release(target: number, key: FileKey): void {
    this.#underWay.delete(`${target} ${key}`);
  }

  /** Whether the file that has a record is still there, still gives the key, and stands before another. */
  #precedes(record: FileRecord, target: number, source: Source, path: RelativePath): boolean {
    const owner = this.#sources.get(record.source);
    if (owner === undefined) return false;
    const order = owner.position - source.position || compareUtf8(record.path, path);
    if (order >= 0 || fileKey(owner.config.keyPrefix, record.path) !== record.key) return false;
    if (this.#state.targetId(owner.syncTarget) !== target || owner.filter.ignoresFile(record.path))
      return false;
    return mayBeSent(owner, record.path);
  }

  /** Within one source only names beyond ASCII can give one key: as NFC and NFD twins. */
  #canCollide(target: number, source: Source, path: RelativePath): boolean {
    if (NOT_ASCII.test(path)) return true;
    return [...this.#sources.values()].some(
      (other) => other !== source && this.#state.targetId(other.syncTarget) === target,
    );
  }
}

const NOT_ASCII = /[^\u0020-\u007e]/u;
