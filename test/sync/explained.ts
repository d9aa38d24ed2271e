import type { RelativePath } from '../../src/domain/key.ts';
import { explain } from '../../src/sync/plan/explain.ts';
import { explainUnseen } from '../../src/sync/plan/explanation.ts';
import { type Explanation } from '../../src/domain/status.ts';
import { findSources } from '../../src/sync/sources/source.ts';
import type { World } from './world.ts';

/** What `explain` says of a path of a source. `nowMs`: epoch milliseconds. */
export function explained(world: World, path: string, source = 'docs', nowMs = Date.now()): Explanation {
  const config = world.config();
  const state = world.open();
  const sources = findSources(config, config.platform.baseUrl);
  const found = sources.find(({ config }) => config.name === source);
  if (found === undefined) throw new Error('no world');
  try {
    if (found.kind === 'missing') {
      const platformName = config.platform.baseUrl;
      return explainUnseen(found, path as RelativePath, { config, state, platformName });
    }
    const input = { config, sources, state, nowMs };
    return explain(found.source, path as RelativePath, input);
  } finally {
    state.close();
  }
}
