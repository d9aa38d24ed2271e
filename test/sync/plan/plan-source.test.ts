import type { Clock } from '../../../src/domain/clock.ts';
import { expect, test } from 'vitest';
import type { RelativePath } from '../../../src/domain/key.ts';
import type { ScanEntry } from '../../../src/files/scan.ts';
import { Claims } from '../../../src/sync/plan/claims.ts';
import type { PlanItem } from '../../../src/sync/plan/plan-item.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { createWorld, type World } from '../world.ts';
import { planSource } from '../../../src/sync/plan/plan-source.ts';

/** What a pass would do if the scan of the world's source said this. */
function planOf(world: World & { readonly clock: Clock }, entries: readonly ScanEntry[]): PlanItem[] {
  const config = world.config();
  const sources = findSources(config, config.platform.baseUrl);
  const [found] = sources;
  const state = world.open();
  if (found?.kind !== 'found') throw new Error('no world');
  const target = state.targetId(found.source.syncTarget);
  const ports = {
    target,
    source: 'docs',
    claims: new Claims(state, sources),
    limits: config.limits,
    now: world.clock.now,
    wallClock: world.clock.now,
    isForced: () => false,
    retriesFailed: true,
    isInDoubt: () => false,
    listed: () => null,
    needsNoContent: () => false,
    adopt: () => undefined,
  };
  return [...planSource(found.source, entries, state.records(target, 'docs'), ports)];
}

function path(text: string): RelativePath {
  return text as RelativePath;
}

/** Each absent record with what is said of its absence. */
function absences(plan: readonly PlanItem[]): [string, string | null][] {
  return plan.flatMap((item) =>
    item.kind === 'absent' ? [[item.record.path, item.absence] as [string, string | null]] : [],
  );
}

test('of what lies below a directory that cannot be listed nothing is said, and of its otherHosts all', async () => {
  const world = await createWorld();
  for (const name of ['d-', 'd/a', 'd/b/c', 'd0', 'e']) world.write(`docs/${name}`, 'x');
  await world.pass();
  world.remove('docs');
  world.write('docs/kept', 'x');
  const plan = planOf(world, [
    { kind: 'unlisted', path: path('d/'), reason: { kind: 'unreadable', code: 'EIO' } },
  ]);
  expect(absences(plan)).toEqual([
    ['d-', 'removed'],
    ['d/a', null],
    ['d/b/c', null],
    ['d0', 'removed'],
    ['e', 'removed'],
  ]);
  expect(plan.find(({ kind }) => kind === 'problem')).toMatchObject({ path: 'd/', hidesFiles: true });
});

test('of a file that cannot be looked at nothing is said either', async () => {
  const world = await createWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, 'x');
  await world.pass();
  for (const name of ['docs/a', 'docs/b']) world.remove(name);
  const plan = planOf(world, [
    { kind: 'unseen', path: path('a'), reason: { kind: 'unreadable', code: 'EIO' } },
  ]);
  expect(absences(plan)).toEqual([
    ['a', null],
    ['b', 'removed'],
  ]);
  expect(plan.find(({ kind }) => kind === 'problem')).toMatchObject({ path: 'a', hidesFiles: true });
});

test('a name that can never be synced hides nothing', async () => {
  const world = await createWorld();
  const plan = planOf(world, [{ kind: 'problem', path: path('a'), reason: { kind: 'name-not-utf8' } }]);
  expect(plan).toMatchObject([{ kind: 'problem', path: 'a', hidesFiles: false }]);
});
