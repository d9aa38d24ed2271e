import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { FileEvent, Summary } from '../../src/domain/report.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { World } from '../sync/world.ts';
import type { FileOperation } from './columns.ts';
import type { FileCell } from './expectation.ts';
import { SETTINGS, SLOW, type FaultName } from './faults.ts';
import { preparePlace, type Place } from './place.ts';
import { expectNoSecrets } from './secrets.ts';

/** The file that is struck. */
export const STRUCK = 'a.md';

/** Where a fault is about to strike: all was in sync, and files have changed since. */
export interface Scene<W> {
  readonly place: Place;
  readonly world: W;
  /** Requests for the struck file so far. */
  readonly before: number;
}

/** Makes a world in which a fault strikes one of the files that changed. */
export async function setScene<W extends World & { readonly clock: { readonly now: () => number } }>(
  fault: FaultName,
  operation: FileOperation,
  create: (fields: Record<string, unknown>, options: Partial<EmulatorOptions>) => Promise<W>,
): Promise<Scene<W>> {
  const place = await preparePlace(fault, operation);
  // The emulator's time is the place's; the world's clock is there only once the world is.
  let clock: { readonly now: () => number } = Date;
  const world = await create(fieldsFor(fault), { now: () => place.platformTime(clock.now()) });
  ({ clock } = world);
  place.settle(world.emulator);
  if (place.url !== null)
    world.configure({ platform: { botId: 'bot-1', baseUrl: place.url, operations: 'auto' } });
  world.write(`docs/${STRUCK}`, 'old');
  world.write('docs/d.md', 'x'.repeat(100));
  world.write('more/z.md', 'z');
  expect(await world.pass()).toMatchObject({ exitCode: 0 });

  edit(world, fault, 'new');
  // Beside it: a new file of its bot, one that shrinks, and a new one of another bot.
  world.write('docs/b.md', 'b');
  world.write('docs/d.md', 'x'.repeat(50));
  world.write('more/c.md', 'c');
  await place.strike(STRUCK, world.clock.now());
  return { place, world, before: triesOf(world, operation) };
}

/** Everything of a configuration but its platform, for a fault. */
function fieldsFor(fault: FaultName): Record<string, unknown> {
  return {
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
    rules: SETTINGS[fault]?.rules ?? [],
    // One at a time, so that what the first file meets is known before the next is tried.
    upload: { attempts: 2, concurrency: 1, stallTimeout: SLOW.has(fault) ? '1s' : '30s' },
  };
}

/** The file that is struck gets another content, one that takes up more room. */
export function edit(world: World, fault: FaultName, round: string): void {
  world.write(`docs/${STRUCK}`, Buffer.alloc(SETTINGS[fault]?.sizeBytes ?? 200, round));
}

/** What had to wait as well, by what arrived of the files beside. */
function whatWaited(world: World): FileCell['pauses'] {
  const isOf = (key: string, botId: string): boolean => world.remote(key, botId) !== null;
  const own = isOf('b.md', 'bot-1');
  const shrunk = world.remote('d.md')?.length === 50;
  const others = isOf('c.md', 'bot-2');
  if (own && shrunk && others) return 'nothing';
  if (others) return 'bot';
  return shrunk ? 'room' : 'all';
}

/** Files that the platform does not have as they are, by their paths. */
export function differences(world: World): string[] {
  const found: string[] = [];
  for (const [directory, botId] of [
    ['docs', 'bot-1'],
    ['more', 'bot-2'],
  ] as const) {
    for (const name of readdirSync(join(world.directory, directory))) {
      const local = readFileSync(join(world.directory, directory, name));
      if (world.emulator.readContent(botId, name)?.equals(local) !== true) found.push(name);
    }
  }
  return found.sort();
}

/** How often something was asked about the file that is struck. */
export function triesOf(world: World, operation: FileOperation): number {
  return world.emulator.requests.filter((one) => one.operation === operation && one.key === STRUCK).length;
}

/** All that was told of one run, and what it left behind. */
export interface Story {
  readonly events: readonly FileEvent[];
  /** Why attempts were made again: "path reason". */
  readonly retries: readonly string[];
  readonly summary: Summary;
  readonly exitCode: number;
}

/** What became of the struck file in a pass. */
export function describeFile(
  world: World,
  place: Place,
  story: Story,
  tries: number,
): Omit<FileCell, 'mended'> {
  const { events, retries, summary, exitCode } = story;
  const status = world.status();
  const left = readdirSync(dirname(world.config().stateFile)).map((name) =>
    readFileSync(join(dirname(world.config().stateFile), name), 'latin1'),
  );
  expectNoSecrets(
    [JSON.stringify(events), retries.join('\n'), JSON.stringify(status), ...left].join('\n'),
    world.emulator,
  );
  expect(place.strayed()).toBe(0);
  expect(world.emulator.counts.has('list-bots')).toBe(false);
  const failure = status.failures.find(({ path }) => path === STRUCK);
  const failed = events.findLast(({ path, outcome }) => path === STRUCK && outcome === 'failed');
  const told = retries.filter((line) => line.includes(STRUCK)).length;
  const error = failed?.error ?? retries.findLast((line) => line.includes(STRUCK)) ?? null;
  return {
    kind: 'file',
    tries: place.isSeen ? tries : told + 1,
    exitCode: exitCode as FileCell['exitCode'],
    stands: failure === undefined ? 'synced' : (failure.kind as FileCell['stands']),
    platformHas: differences(world).includes(STRUCK) ? 'not-it' : 'it',
    pauses: whatWaited(world),
    waits: waitOf(summary.durationMs),
    says: error,
  };
}

/** How long requests were held back, by how long it took until they were over, milliseconds of the clock. */
export function waitOf(tookMs: number): FileCell['waits'] {
  return tookMs < 15_000 ? 'no-time' : '20s';
}
