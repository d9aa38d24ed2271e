import type { StateReader } from '../../state/state-reader.ts';
import type { ServiceMemory } from '../../sync/catalog/served-catalog.ts';

/** What was not served is read from the state file, and else remembered for as long as the command runs. */
export function memoryOf({ remote }: StateReader): ServiceMemory {
  const noted = new Map<string, ReturnType<ServiceMemory['unserved']>>();
  return {
    unserved: (target, operation) => {
      const own = noted.get(`${target} ${operation}`);
      return own === undefined ? remote.unserved(target, operation) : own;
    },
    noteUnserved: (target, operation, unserved) => noted.set(`${target} ${operation}`, unserved),
    noteServed: (target, operation) => noted.set(`${target} ${operation}`, null),
  };
}
