import type { FileEvent } from '../../../src/domain/report.ts';
import type { Condition } from '../../../src/emulator/conditions.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { targetOf } from '../../../src/sync/sources/source.ts';
import type { SourceStatus } from '../../../src/domain/status.ts';
import { eventually } from '../../files/watch-fixture.ts';
import { createDaemonWorld, type DaemonWorld, type RunningDaemon } from '../daemon-world.ts';

export const SECOND = 1000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** A world of daemons whose platform is asked what it has, and in which markdown is indexed. `grainMs`: see `ManualClock`. */
export async function createAskedWorld(
  fields: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
  grainMs = 0,
): Promise<DaemonWorld> {
  const world = await createDaemonWorld(
    // A verification finds what was lost as well, and asks for lists of its own.
    {
      platform: { operations: 'auto' },
      rules: [{ match: '*.md', index: true }],
      verify: { every: null },
      ...fields,
    },
    options,
    grainMs,
  );
  noteAdopted(world);
  return world;
}

/** The state file of a world says that all that the platform had was taken over: no list is asked for that. */
function noteAdopted({ config, open }: DaemonWorld): void {
  const state = open();
  for (const source of config().sources) {
    const target = state.targetId(targetOf(config(), source, config().platform.baseUrl));
    state.remote.beginAdoption(target, source.name);
    state.remote.endAdoption(target, source.name);
  }
  state.close();
}

/** What was confirmed so far: "a.md searchable", "b.md failed". */
export const confirmed = ({ events }: Pick<RunningDaemon, 'events'>): string[] =>
  events.flatMap(({ kind, path, outcome }) => (kind === 'confirm' ? [`${path} ${outcome}`] : []));

/** The last event on what became of a file. */
export const lastWord = ({ events }: RunningDaemon, path: string): FileEvent | undefined =>
  events.filter((event) => event.kind === 'confirm' && event.path === path).at(-1);

/** Requests for an operation of the catalog so far. */
export const asked = (
  { emulator }: DaemonWorld,
  operation: 'list-files' | 'get-file' | 'update-file' = 'list-files',
): number => emulator.counts.get(operation) ?? 0;

/** The platform is in a condition from now on. */
export const set = ({ emulator }: DaemonWorld, condition: Condition): Promise<void> =>
  emulator.conditions.set(condition);

/** Resolves when the state file on disk shows how a source stands: what was written last is there a little later. */
export async function untilStatus(world: DaemonWorld, expected: Partial<SourceStatus>): Promise<void> {
  const isThere = (): boolean => {
    const [source] = world.status().sources;
    return Object.entries(expected).every(([name, value]) => source?.[name as keyof SourceStatus] === value);
  };
  await eventually(isThere, `the status ${JSON.stringify(expected)}`);
}

/** What the state file says of a key. */
export function rowOf({ sql }: DaemonWorld, key: string): Record<string, unknown> {
  return sql('SELECT * FROM file WHERE key = ?', key)[0] ?? {};
}
