import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { StateFileError } from '../../src/store/database.ts';
import { setAside } from '../../src/store/open.ts';
import { createWorld, type PassOptions, type PassOutcome, type World } from '../sync/world.ts';

/** SQLite's own: botsync does not choose another. */
export const PAGE_BYTES = 4096;

/** Of the write-ahead log: its header, and that of a frame, before the page. */
export const LOG_HEADER_BYTES = 32;
export const FRAME_BYTES = 24 + PAGE_BYTES;

/** Files that are in sync, with names that fill the pages of a state file. */
const FILES = 12;

/** The files of a database as bytes, by what their names end in: '' and '-wal'. */
export type Files = Readonly<Record<string, Buffer>>;

/** A world in sync whose state file is put back, damaged, and gone on with, over and over. */
export interface Patient {
  readonly world: Awaited<ReturnType<typeof createWorld>>;
  readonly stateFile: string;
  /** As a pass that ended left it. */
  readonly closed: Files;
  /** As one that was killed left it: most of it stands in the log. */
  readonly killed: Files;
  /** Puts a state file there, and nothing beside it. */
  readonly put: (files: Files) => void;
}

/** The name of file n: long, so that few rows fill a page. */
function nameOf(n: number): string {
  return `${'a-long-name-'.repeat(14)}${n}.md`;
}

/** Makes one; it goes with the test. */
export async function createPatient(files = FILES): Promise<Patient> {
  const world = await createWorld({ removals: { mode: 'expire', maxFraction: 1 } });
  const { stateFile } = world.config();
  for (let n = 0; n < files; n++) world.write(`docs/${nameOf(n)}`, `content ${n}`);
  let killed: Files = {};
  await world.pass({
    report: {
      event: () => {
        killed = filesOf(stateFile);
      },
      warn: () => undefined,
      retrying: () => undefined,
      sent: () => undefined,
    },
  });
  // Files that came and went leave free pages.
  for (let n = files; n < 2 * files; n++) world.write(`docs/${nameOf(n)}`, 'goes soon');
  await world.pass();
  for (let n = files; n < 2 * files; n++) rmSync(join(world.directory, 'docs', nameOf(n)));
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: files } });
  world.clock.advance(600_000);
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: files } });
  const closed = filesOf(stateFile);
  const put = (these: Files): void => {
    for (const name of readdirSync(dirname(stateFile))) {
      if (name.startsWith(basename(stateFile)))
        rmSync(join(dirname(stateFile), name), { recursive: true, force: true });
    }
    for (const [end, bytes] of Object.entries(these)) writeFileSync(stateFile + end, bytes);
  };
  return { world, stateFile, closed, killed, put };
}

function filesOf(stateFile: string): Files {
  return Object.fromEntries(
    ['', '-wal']
      .filter((end) => existsSync(stateFile + end))
      .map((end) => [end, readFileSync(stateFile + end)] as const)
      .filter(([, bytes]) => bytes.length > 0),
  );
}

/** The names that state files were given that could not be used any more. */
export function keptBeside(stateFile: string): string[] {
  return readdirSync(dirname(stateFile))
    .filter((name) => /\.(?:damaged|older)-[^-]+-\d\d-\d\dT\d{6}\.\d{3}Z$/u.test(name))
    .map((name) => join(dirname(stateFile), name));
}

/** A pass as `sync --once` makes it: once more, with a new state file, when damage shows in its midst. */
export async function passThroughDamage(world: World, options: PassOptions = {}): Promise<PassOutcome> {
  try {
    return await world.pass(options);
  } catch (error) {
    if (!(error instanceof StateFileError) || error.kind !== 'damaged') throw error;
    expect(setAside(world.config().stateFile, 'damaged', Date.now())).toMatchObject({ kind: 'kept' });
    return await world.pass(options);
  }
}

/** Nothing was removed, everything is there, and nothing is left to do. */
export async function expectBackInSync(world: World, first: PassOutcome): Promise<void> {
  expect(first).toMatchObject({ exitCode: 0, summary: { removed: 0, failed: 0, problems: 0 } });
  const local = readdirSync(join(world.directory, 'docs')).sort();
  const there = world.keys().filter((key) => world.remote(key) !== null);
  expect(there.filter((key) => local.includes(key)).sort()).toEqual(local);
  for (const key of local) {
    expect(world.remote(key)).toBe(readFileSync(join(world.directory, 'docs', key), 'utf8'));
  }
  expect(await world.pass({ checkThoroughly: false })).toMatchObject({
    exitCode: 0,
    requests: 0,
    summary: { unchanged: local.length },
  });
}

/** What those who only read the state file make of it: all of it, or a word of the damage; never a crash. */
export async function expectReadersToCope(world: World): Promise<void> {
  const cope = async (read: () => unknown): Promise<void> => {
    try {
      await read();
    } catch (error) {
      const isTold = error instanceof StateFileError || (error as Error).message === 'damaged';
      if (!isTold) throw error;
    }
  };
  await cope(() => world.status());
  await cope(() => world.plan());
}

/** Goes through the rows of a table; one that fails is named. */
export async function eachRow<Row extends { readonly what: string }>(
  rows: readonly Row[],
  check: (row: Row) => Promise<void>,
): Promise<void> {
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    try {
      await check(row);
    } catch (error) {
      throw new Error(`${row.what}: ${(error as Error).message}`, { cause: error });
    }
  }
}
