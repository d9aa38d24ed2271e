import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/state/schema.ts';
import { createDice } from '../cli/churn.ts';
import { makeOlder } from '../state/older-file.ts';
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
  ...[1, 2, 3, 4].map((version) => ({
    what: `version ${version}`,
    version,
    make: async (file: string, round: CrashRound) => {
      await round.endsInSync();
      makeOlder(file, version);
    },
    isInSync: true,
  })),
];

test('there is a state file of every older version', () => {
  const versions = new Set(OLDER_FILES.map(({ version }) => version));
  expect([...versions]).toEqual(MIGRATIONS.map((_step, version) => version));
});

test.for(OLDER_FILES)(
  'killed at every statement of the migrations: $what',
  { timeout: 120_000 },
  async ({ version, make, isInSync }) => {
    const round = await CrashRound.create('keep', createDice(version));
    const { directory, emulator } = round.site;
    mkdirSync(join(directory, '.botsync'));
    await make(join(directory, '.botsync/state.db'), round);
    const requestsBefore = emulator.requests.length;
    try {
      let kills = 0;
      for (; ; kills++) {
        // Each kill undoes the whole: the next run comes one statement further.
        const point = { kind: 'inner', name: 'migration', count: kills + 1 } as const;
        const end = await round.once(point, kills % 2 === 0);
        if (end.kind === 'ended') {
          expect(end.ended).toMatchObject({ code: 0 });
          break;
        }
        expect(emulator.requests.slice(requestsBefore)).toEqual([]);
      }
      expect(kills).toBeGreaterThan(MIGRATIONS.length - version);
      // Each file was sent once, unless it was on record before.
      const upserts = emulator.requests
        .slice(requestsBefore)
        .filter(({ operation }) => operation === 'upsert');
      const expected = isInSync ? [] : [...round.tree.files.keys()];
      expect(upserts.map(({ key }) => key).sort()).toEqual(expected.sort());
      await round.endsInSync();
    } finally {
      round.close();
    }
  },
);
