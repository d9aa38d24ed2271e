import { DatabaseSync } from '@photostructure/sqlite';
import type { FileEvent } from '../../../src/domain/report.ts';
import type { Condition } from '../../../src/emulator/conditions.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { openState } from '../../../src/store/open.ts';
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
    { rules: [{ match: '*.md', index: true }], verify: { every: null }, ...fields },
    options,
    grainMs,
  );
  ask(world);
  noteAdopted(world);
  return world;
}

/** The state file of a world says that all that the platform had was taken over: no list is asked for that. */
function noteAdopted({ config, clock }: DaemonWorld): void {
  const { stateFile, sources, platform } = config();
  const opened = openState(stateFile, { checkThoroughly: false, nowMs: clock.now() });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  for (const source of sources) {
    const target = opened.store.targetId(targetOf(config(), source, platform.baseUrl));
    opened.store.remote.beginAdoption(target, source.name);
    opened.store.remote.endAdoption(target, source.name);
  }
  opened.store.close();
}

/** From now on the platform of a world is asked what it has. `more`: of the configuration's block `platform`. */
export function ask(world: Pick<DaemonWorld, 'configure' | 'emulator'>, more: object = {}): void {
  const { baseUrl } = world.emulator;
  world.configure({ platform: { botId: 'bot-1', baseUrl, operations: 'auto', ...more } });
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

/** Requests an operation as the bot's own client would, beside botsync. */
export async function call(
  { emulator }: Pick<DaemonWorld, 'emulator'>,
  method: 'GET' | 'PUT' | 'DELETE',
  name: string,
  body: object | null = null,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${emulator.baseUrl}/v1/files/${encodeURIComponent(name)}`, {
    method,
    headers: {
      authorization: `Bearer ${emulator.token}`,
      'x-bot-id': 'bot-1',
      'content-type': 'application/json',
    },
    body: body === null ? null : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${name}: ${answer.status}`);
  const { file } = (await answer.json()) as { file?: Record<string, unknown> };
  return file ?? {};
}

/** Resolves when the state file on disk shows how a source stands: what was written last is there a little later. */
export async function untilStatus(world: DaemonWorld, expected: Partial<SourceStatus>): Promise<void> {
  const isThere = (): boolean => {
    const [source] = world.status().sources;
    return Object.entries(expected).every(([name, value]) => source?.[name as keyof SourceStatus] === value);
  };
  await eventually(isThere, `the status ${JSON.stringify(expected)}`);
}

/** What the state file says of a key. */
export function rowOf(world: DaemonWorld, key: string): Record<string, unknown> {
  const database = new DatabaseSync(world.config().stateFile, { readOnly: true });
  try {
    return { ...(database.prepare('SELECT * FROM file WHERE key = ?').get(key) as object) };
  } finally {
    database.close();
  }
}
