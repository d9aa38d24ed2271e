import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';

/** The blocks of the file, such as `rules`, that mean something else in another configuration. */
export function changedBlocks(before: Config, after: Config): string[] {
  return (Object.keys(after) as (keyof Config)[]).filter(
    (block) => !isDeepStrictEqual(before[block], after[block]),
  );
}
