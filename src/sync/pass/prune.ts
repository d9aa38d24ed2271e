import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { failed, ok, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import type { FilePlatform } from '../../domain/file-platform.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import { readMark } from '../../domain/mark.ts';
import type { FileEvent } from '../../domain/report.ts';
import type { StateStore } from '../../state/state-store.ts';
import { ask, type AskPorts } from '../catalog/ask.ts';
import type { FileDifference } from '../catalog/compare.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import { mayBeOrphan } from '../plan/orphans.ts';
import { findSources, targetOf, type FoundSource } from '../sources/source.ts';
import { leaveTombstone } from './leave-tombstone.ts';

/** What removing orphans works with. */
export interface PruneInput {
  readonly config: Config;
  readonly platformName: string;
  readonly state: StateStore;
  readonly catalog: ServedCatalog;
  readonly platform: FilePlatform;
  readonly clock: Clock;
  readonly ports: AskPorts;
  /** Whether somebody has checked what a guard would halt. */
  readonly isAllowed: boolean;
  readonly onEvent: (event: FileEvent) => void;
}

/** What removing orphans came to. */
export interface Pruned {
  removed: number;
  /** Those that are still there. */
  left: number;
  /** Sources of which none was removed, as there were too many. */
  readonly halts: { readonly source: string; readonly halt: Halt }[];
}

/**
 * Removes files that were found to be orphans, under the guard against mass removal: each is asked for again first, and
 * left where it is not ours, or not an orphan, any more. Throws `StateFileError`.
 */
export async function pruneOrphans(orphans: readonly FileDifference[], input: PruneInput): Promise<Pruned> {
  const pruned: Pruned = { removed: 0, left: 0, halts: [] };
  for (const found of findSources(input.config, input.platformName)) {
    const { name } = found.config;
    const own = orphans.filter(({ source }) => source === name);
    const halt = guardOf(found, own.length, input);
    if (halt !== null && !input.isAllowed) {
      pruned.halts.push({ source: name, halt });
      pruned.left += own.length;
      continue;
    }
    for (const orphan of own) {
      const isGone = !input.ports.stop.aborted && (await pruneOne(orphan, found, input));
      if (isGone) pruned.removed += 1;
      else pruned.left += 1;
    }
  }
  return pruned;
}

function guardOf(
  found: FoundSource,
  wanted: number,
  { config, platformName, state, clock }: PruneInput,
): Halt | null {
  const { name } = found.config;
  const recent = state.countRemovals(name, clock.now() - REMOVAL_WINDOW_MS);
  const target = state.targetId(targetOf(config, found.config, platformName));
  const { present, removed } = state.countRecorded(target, name);
  return guardRemovals(wanted, recent, present + removed + recent + wanted, config.removals);
}

/** Whether the file is gone, or does not have to. */
async function pruneOne(orphan: FileDifference, found: FoundSource, input: PruneInput): Promise<boolean> {
  const { config, platformName, state, catalog, clock, ports, onEvent } = input;
  const { key, source, path } = orphan;
  const at = {
    target: state.targetId(targetOf(config, found.config, platformName)),
    botId: found.config.botId,
  };
  const answered = await ask((signal) => catalog.get(at, key, signal), ports);
  const isOurs = (): boolean =>
    answered.kind === 'ok' &&
    answered.value.id === orphan.id &&
    readMark(answered.value.metadata)?.source === source &&
    state.sent.find(at.target, key) === null &&
    mayBeOrphan(found, key, state) !== null;
  if (answered.kind === 'ok' && !isOurs()) return false;
  if (answered.kind === 'failed' && answered.failure.kind === 'not-found') return true;
  const ended =
    answered.kind === 'failed' ? answered : await removeThere(at, orphan.id ?? answered.value.id, key, input);
  const event = { kind: 'remove', source, path: path ?? key, key, reason: 'orphan' } as const;
  if (ended.kind === 'ok') {
    state.removals.note(source, clock.now());
    onEvent({ ...event, outcome: 'done' });
    return true;
  }
  onEvent({ ...event, outcome: 'failed', error: ended.failure.message });
  return false;
}

/** Deletes a file; where that is not served an empty one that expires takes its place. */
async function removeThere(
  at: BotAtTarget,
  id: string,
  key: FileDifference['key'],
  { catalog, platform, ports }: PruneInput,
): Promise<Outcome<null, OptionalFailure>> {
  const deleted = await ask((signal) => catalog.delete(at, id, signal), ports);
  if (deleted.kind === 'ok' || deleted.failure.kind === 'not-found') return ok(null);
  if (deleted.failure.kind !== 'not-served') return deleted;
  return await ask(async (signal) => {
    const left = await leaveTombstone(at.botId, key, { platform, abort: signal });
    return left.kind === 'failed' ? failed(left.failure) : ok(null);
  }, ports);
}
