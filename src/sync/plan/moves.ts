import { fateOf, type FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { Records } from './plan-file.ts';

/** The records that went over to other files in a plan that writes nothing: the state file has them where they were. */
export class Moves {
  readonly #ids = new Set<string>();
  /** By the source that had them. */
  readonly #counts = new Map<string, number>();

  /** Notes that a record of a target goes over to another file. */
  add(target: number, { key, source, ...record }: FileRecord): void {
    this.#ids.add(nameOf({ target, key }));
    const counts = record.absence === null || fateOf(record, record.absence, 'expire') === 'remove';
    if (counts) this.#counts.set(source, this.countFrom(source) + 1);
  }

  /** How many went away from a source, of those that `StateReader.countRecorded` counts. */
  countFrom(source: string): number {
    return this.#counts.get(source) ?? 0;
  }

  /** Whether a record went over. */
  has(id: RowId): boolean {
    return this.#ids.size > 0 && this.#ids.has(nameOf(id));
  }

  /** The records of a target without those that went over by the time they are come to, as if they had been moved. */
  unmoved(target: number, records: Records): Records {
    const hasMoved = (key: RowId['key']): boolean => this.has({ target, key });
    return {
      get current() {
        while (records.current !== null && hasMoved(records.current.key)) records.advance();
        return records.current;
      },
      advance: () => {
        records.advance();
      },
      seekAfter: (place) => {
        records.seekAfter(place);
      },
    };
  }
}

function nameOf({ target, key }: RowId): string {
  return `${target} ${key}`;
}
