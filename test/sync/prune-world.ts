import type { StateStore } from '../../src/store/state-store.ts';
import { prune } from '../../src/sync/pass/removals.ts';
import { noteOrphan } from '../../src/sync/pass/verification.ts';
import { findSources, targetOf, type Source } from '../../src/sync/sources/source.ts';
import type { World } from './world.ts';
import type { VerifyWorld } from './verify-world.ts';
import { keptFiles } from '../../src/sync/sources/recorded-files.ts';

/** The sources of a world whose directories are there. */
export function sourcesOf(world: Pick<World, 'config'>): Source[] {
  const config = world.config();
  return findSources(config, config.platform.baseUrl).flatMap((one) =>
    one.kind === 'found' ? [one.source] : [],
  );
}

/** Has a pass remove the kept files whose path matches, as `botsync prune --kept` does. */
export function pruneKept(world: Pick<World, 'config'>, matches: (path: string) => boolean = () => true) {
  return (state: StateStore): void => {
    for (const source of sourcesOf(world)) prune(source, [...keptFiles(source, state, matches)], state);
  };
}

/** Compares, and has the next pass remove the orphans that were found, as `botsync verify --prune` does. Returns their keys. */
export async function noteOrphans(world: VerifyWorld): Promise<string[]> {
  const { differences } = await world.verify();
  const orphans = differences.filter(({ reason }) => reason === 'orphan');
  const config = world.config();
  const [first] = config.sources;
  if (first === undefined) throw new Error('no source');
  const state = world.open();
  const target = state.targetId(targetOf(config, first, config.platform.baseUrl));
  for (const orphan of orphans) noteOrphan(state, target, orphan, world.clock.now());
  state.close();
  return orphans.map(({ key }) => key).sort();
}
