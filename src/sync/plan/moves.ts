import type { RowId } from '../../state/state-reader.ts';
import type { Records } from './plan-source.ts';

/** The records that went over to other files in a plan that writes nothing: the state file has them where they were. */
export class Moves {
  readonly #ids = new Set<string>();

  add(id: RowId): void {
    this.#ids.add(nameOf(id));
  }

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
      seekAfter: (path) => {
        records.seekAfter(path);
      },
    };
  }
}

function nameOf({ target, key }: RowId): string {
  return `${target} ${key}`;
}
