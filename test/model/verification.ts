import { openState } from '../../src/store/open.ts';
import type { FileDifference } from '../../src/sync/catalog/compare.ts';
import { ServedCatalog } from '../../src/sync/catalog/served-catalog.ts';
import { noteDifference, noteOrphan, noteSame, verifyBots } from '../../src/sync/pass/verification.ts';
import { findSources, targetOf } from '../../src/sync/sources/source.ts';
import { connectTo, type World } from '../sync/world.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { demand } from './demand.ts';
import { idOf } from './model.ts';
import { digest, type Observation } from './observe.ts';
import type { Others } from './others.ts';

/** A difference that was found, by the `idOf` of its file. */
export interface Found extends Pick<FileDifference, 'reason' | 'detail'> {
  readonly id: string;
}

/**
 * Compares what the bots have with what they were sent, and writes down what is to be put right, as `verify --repair` does
 * before its pass. `null`: it could not be done.
 */
export async function verifyForRepair(
  world: World,
  clock: Clock,
  { prune = false } = {},
): Promise<Found[] | null> {
  const config = world.config();
  const platformName = config.platform.baseUrl;
  const opened = openState(config.stateFile, { checkThoroughly: false, nowMs: clock.now() });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const { store: state } = opened;
  const connection = connectTo(world.emulator, config, clock);
  if (connection.catalog === null) throw new Error('nothing may be asked');
  const bots = new Map(
    findSources(config, platformName).map((one) => [
      state.targetId(targetOf(config, one.config, platformName)),
      one.config.botId,
    ]),
  );
  const found: Found[] = [];
  try {
    const verified = await verifyBots({
      config,
      platformName,
      state,
      catalog: new ServedCatalog(connection.catalog, state.remote, clock, () => undefined),
      ports: {
        clock,
        random: () => 0.5,
        patienceMs: 60_000,
        onRetry: () => undefined,
        stop: new AbortController().signal,
      },
      platformNow: () => clock.now() + state.platformAheadMs(),
      isBusy: () => false,
      readDigest: null,
      onDifference: (difference, target) => {
        const { key, reason, detail } = difference;
        found.push({ id: idOf(bots.get(target) ?? '', key), reason, detail });
        noteDifference(state, target, difference, clock.now());
        if (prune && reason === 'orphan') noteOrphan(state, target, difference, clock.now());
      },
      onSame: (sent, there, target) => {
        noteSame(state, target, sent, there, clock.now());
      },
    });
    return verified.kind === 'ok' ? found : null;
  } finally {
    state.close();
    await connection.close();
  }
}

/** What a verification finds is what others did, or what the records say already, and of that it finds everything. */
export function checkVerification(
  found: readonly Found[],
  before: Observation,
  others: Others,
  sources: ReadonlySet<string>,
): void {
  for (const { id, reason, detail } of found) {
    const isKnown =
      reason === 'failed' || reason === 'unsent' || reason === 'pending' || others.isForgotten(id);
    const isLost = before.platform.get(id)?.status === 'upload_failed';
    demand(
      isKnown || isLost || others.mayDiffer(id),
      `found to differ, though nobody changed it: ${id}: ${detail}`,
    );
  }
  const ids = new Set(found.map(({ id }) => id));
  for (const [id, { source, state, sha256, absence, expiresAtMs }] of before.rows) {
    // What a source has on record that has another name by now, or left the configuration, is not compared.
    if (!sources.has(source)) continue;
    const isOver = expiresAtMs !== null && expiresAtMs <= before.atMs;
    if (state !== 'synced' || absence !== null || isOver || !others.mayDiffer(id)) continue;
    const content = before.platform.get(id)?.content ?? null;
    const isThere = content !== null && digest(content) === sha256?.toString('hex');
    demand(isThere || ids.has(id), `not found to differ: ${id}`);
  }
}
