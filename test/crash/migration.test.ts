import { cpSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { pragmaNumber } from '../../src/state/database.ts';
import { openState } from '../../src/state/open.ts';
import { MIGRATIONS } from '../../src/state/schema.ts';
import { createDice, type Dice } from '../cli/churn.ts';
import { makeOlder } from '../state/older-file.ts';
import { cutPower } from './power-cut.ts';
import { CrashRound } from './round.ts';

/** A state file of an older version, as an older botsync leaves it. */
interface OlderFile {
  readonly what: string;
  readonly version: number;
  /** Makes it. */
  readonly make: (file: string, round: CrashRound) => Promise<void> | void;
  /** Whether all files are in sync by it. */
  readonly isInSync: boolean;
}

const change = (file: string, sql: string): void => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};

const OLDER_FILES: readonly OlderFile[] = [
  { what: 'none at all', version: 0, make: () => undefined, isInSync: false },
  {
    what: 'one without tables',
    version: 0,
    make: (file) => {
      change(file, 'PRAGMA journal_mode = WAL');
    },
    isInSync: false,
  },
  ...[1, 2, 3, 4, 5].map((version) => ({
    what: `version ${version}`,
    version,
    make: async (file: string, round: CrashRound) => {
      expect(await round.once(null)).toMatchObject({ kind: 'ended', ended: { code: 0 } });
      makeOlder(file, version);
    },
    isInSync: true,
  })),
];

test('there is a state file of every older version', () => {
  const versions = new Set(OLDER_FILES.map(({ version }) => version));
  expect([...versions]).toEqual(MIGRATIONS.map((_step, version) => version));
});

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

/** What a kill leaves, or one that takes the power with it, is the older file; the next start makes the present one of it. */
function expectUndone(kept: string, before: unknown, after: unknown, dice: Dice): void {
  for (const hasPower of [true, false]) {
    const [found, opened] = [copyOf(kept), copyOf(kept)];
    if (!hasPower) for (const file of [found, opened]) cutPower(file, `${file}-synced`, dice);
    expect(contentOf(found)).toEqual(before);
    expect(contentOnceOpened(opened)).toEqual(after);
  }
}

test.for(OLDER_FILES)(
  'a kill at any statement of the migrations undoes them, and the next start completes them: $what',
  { timeout: 120_000 },
  async ({ version, make, isInSync }) => {
    const dice = createDice(version);
    const round = await CrashRound.create('keep', dice);
    const { directory, emulator } = round.site;
    const state = join(directory, '.botsync');
    mkdirSync(state);
    await make(join(state, 'state.db'), round);
    const before = contentOf(copyOf(state));
    const after = contentOnceOpened(copyOf(state));
    const requestsBefore = emulator.requests.length;
    try {
      // One run comes by all statements, and leaves at each the files that a kill there would leave. At the last it is killed.
      const copies = join(directory, 'copies');
      mkdirSync(copies);
      const point = { kind: 'inner', name: 'migration', count: 1 } as const;
      const end = await round.once(point, version % 2 === 0, copies);
      expect(end).toMatchObject({ kind: 'killed', isAtPoint: true });
      expect(emulator.requests.slice(requestsBefore)).toEqual([]);
      const moments = readdirSync(copies);
      expect(moments.length).toBeGreaterThan(MIGRATIONS.length - version);
      for (const moment of moments) expectUndone(join(copies, moment), before, after, dice);

      await round.endsInSync();
      // Each file was sent once, unless it was on record before.
      const upserts = emulator.requests
        .slice(requestsBefore)
        .filter(({ operation }) => operation === 'upsert');
      const expected = isInSync ? [] : [...round.tree.files.keys()];
      expect(upserts.map(({ key }) => key).sort()).toEqual(expected.sort());
    } finally {
      round.close();
    }
  },
);
