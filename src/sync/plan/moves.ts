import { absenceActionOf, type FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { Records } from './plan-file.ts';

/**
 * The records that move to other files in a plan that writes nothing. The state file still has them in their old
 * places.
 */
export class Moves {
  readonly #ids = new Set<string>();
  /** By the source that had them. */
  readonly #counts = new Map<string, number>();

  add(target: number, { key, source, ...record }: FileRecord): void {
    this.#ids.add(nameOf({ target, key }));
    const counts = record.absence === null || absenceActionOf(record, record.absence, 'expire') === 'remove';
    if (counts) this.#counts.set(source, this.countFrom(source) + 1);
  }

  /** Returns how many records left a source, of those that `StateReader.countRecorded` counts. */
  countFrom(source: string): number {
    return this.#counts.get(source) ?? 0;
  }

  has(id: RowId): boolean {
    return this.#ids.size > 0 && this.#ids.has(nameOf(id));
  }

  /** Returns the records of a target without those that have moved by the time they are reached. */
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
