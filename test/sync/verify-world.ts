import type { FoundFile } from '../../src/store/remote.ts';
import type { FileRecord } from '../../src/domain/record.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import type { FileDifference } from '../../src/sync/catalog/compare.ts';
import { ServedCatalog } from '../../src/sync/catalog/served-catalog.ts';
import { verify, type VerifyInput } from '../../src/sync/plan/verify.ts';
import { type Verified } from '../../src/domain/status.ts';
import { findSources, targetOf } from '../../src/sync/sources/source.ts';
import { connectTo, createWorld } from './world.ts';

/** What a comparison told. */
export interface Told {
  readonly differences: FileDifference[];
  /** "reason key" of each, in the order of the text. */
  readonly reasons: string[];
  readonly same: { readonly sent: FileRecord; readonly found: FoundFile }[];
  /** `null`: it failed. */
  readonly verified: Verified | null;
  /** Why it failed. */
  readonly failure: string | null;
}

/** A world whose platform serves all operations, and comparisons in it. */
export interface VerifyWorld extends Awaited<ReturnType<typeof createWorld>> {
  /** Compares; what the input names, made from the open state file, replaces the usual. */
  readonly verify: (input?: (state: StateStore) => Partial<VerifyInput>) => Promise<Told>;
}

/** Makes it. */
export async function createVerifyWorld(fields: Record<string, unknown> = {}): Promise<VerifyWorld> {
  const world = await createWorld({ platform: { operations: 'auto' }, ...fields });
  return {
    ...world,
    verify: async (changed = () => ({})) => {
      const config = world.config();
      const state = world.open();
      const connection = connectTo(world.emulator, config, world.clock);
      if (connection.catalog === null) throw new Error('no catalog');
      const catalog = new ServedCatalog(connection.catalog, state.remote, world.clock, () => undefined);
      const sources = findSources(config, config.platform.baseUrl);
      const [first] = config.sources;
      if (first === undefined) throw new Error('no source');
      const target = state.targetId(targetOf(config, first, config.platform.baseUrl));
      const differences: FileDifference[] = [];
      const same: Told['same'] = [];
      const stop = new AbortController().signal;
      try {
        const result = await verify({
          at: { target, botId: 'bot-1' },
          sources,
          state,
          catalog,
          ports: {
            clock: world.clock,
            random: () => 0.5,
            patienceMs: 60_000,
            onRetry: () => undefined,
            stop,
          },
          platformNow: world.clock.now,
          isBusy: () => false,
          readDigest: null,
          onDifference: (one) => differences.push(one),
          onSame: (sent, found) => same.push({ sent, found }),
          ...changed(state),
        });
        return {
          differences,
          same,
          reasons: differences.map(({ reason, key }) => `${reason} ${key}`).sort(),
          verified: result.kind === 'ok' ? result.value : null,
          failure: result.kind === 'ok' ? null : result.failure.message,
        };
      } finally {
        await connection.close();
        state.close();
      }
    },
  };
}
