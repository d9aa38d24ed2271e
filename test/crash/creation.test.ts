import { cpSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { pragmaNumber } from '../../src/store/database.ts';
import { openState } from '../../src/store/open.ts';
import { createDice, type Dice } from '../cli/churn.ts';
import { cutPower } from './power-cut.ts';
import { CrashRound } from './round.ts';

/** What is there before the first start. */
const BEGINNINGS: readonly { readonly what: string; readonly make: (file: string) => void }[] = [
  { what: 'no file', make: () => undefined },
  {
    what: 'a file without tables',
    make: (file) => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA journal_mode = WAL');
      database.close();
    },
  },
];

/** All that is in a state file: its version, its tables and indexes, its rows. It is opened as the next process opens it. */
function contentOf(file: string): unknown {
  const database = new DatabaseSync(file);
  try {
    const schema = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all() as {
      type: string;
      name: string;
    }[];
    const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => name);
    return {
      version: pragmaNumber(database, 'user_version'),
      schema,
      rows: tables.map((name): unknown => database.prepare(`SELECT * FROM ${name}`).all()),
    };
  } finally {
    database.close();
  }
}

/** What the next botsync makes of a state file: nothing is damaged, and its content is that of the present version. */
function contentOnceOpened(file: string): unknown {
  const opened = openState(file, { checkThoroughly: true, nowMs: Date.now() });
  expect(opened).toMatchObject({ kind: 'open', setAside: null });
  if (opened.kind === 'open') opened.store.close();
  return contentOf(file);
}

/** A copy of a state file, with what SQLite has beside it, in a directory of its own. */
function copyOf(directory: string): string {
  const copy = mkdtempSync(`${directory}-`);
  cpSync(directory, copy, { recursive: true });
  return join(copy, 'state.db');
}

/** What a kill leaves, or one that takes the power with it, is a file without tables; the next start makes them. */
function expectUndone(kept: string, before: unknown, after: unknown, dice: Dice): void {
  for (const hasPower of [true, false]) {
    const [found, opened] = [copyOf(kept), copyOf(kept)];
    if (!hasPower) for (const file of [found, opened]) cutPower(file, `${file}-synced`, dice);
    expect(contentOf(found)).toEqual(before);
    expect(contentOnceOpened(opened)).toEqual(after);
  }
}

test.for(BEGINNINGS)(
  'a kill at any statement that makes the tables undoes them, and the next start completes them: $what',
  { timeout: 120_000 },
  async ({ make }) => {
    const dice = createDice(BEGINNINGS.length);
    const round = await CrashRound.create('keep', dice);
    const { directory, emulator } = round.site;
    const state = join(directory, '.botsync');
    mkdirSync(state);
    make(join(state, 'state.db'));
    const before = contentOf(copyOf(state));
    const after = contentOnceOpened(copyOf(state));
    const requestsBefore = emulator.requests.length;
    try {
      // One run comes by all statements, and leaves at each the files that a kill there would leave. At the last it is killed.
      const copies = join(directory, 'copies');
      mkdirSync(copies);
      const point = { kind: 'inner', name: 'creation', count: 1 } as const;
      expect(await round.once(point, true, copies)).toMatchObject({ kind: 'killed', isAtPoint: true });
      expect(emulator.requests.slice(requestsBefore)).toEqual([]);
      const moments = readdirSync(copies);
      expect(moments.length).toBeGreaterThan(20);
      for (const moment of moments) expectUndone(join(copies, moment), before, after, dice);

      await round.endsInSync();
      const upserts = emulator.requests
        .slice(requestsBefore)
        .filter(({ operation }) => operation === 'upsert');
      expect(upserts.map(({ key }) => key).sort()).toEqual([...round.tree.files.keys()].sort());
    } finally {
      round.close();
    }
  },
);
