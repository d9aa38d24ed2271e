import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/state/schema.ts';
import { createDice } from '../cli/churn.ts';
import { CrashRound } from './round.ts';

/** A state file of an older version, as an older botsync leaves it. */
interface OlderFile {
  readonly what: string;
  readonly version: number;
  /** Makes it, with rows of files that are in sync where that version has any. */
  readonly make: (file: string) => void;
}

const OLDER_FILES: readonly OlderFile[] = [
  { what: 'none at all', version: 0, make: () => undefined },
  {
    what: 'one without tables',
    version: 0,
    make: (file) => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA journal_mode = WAL');
      database.close();
    },
  },
];

test('there is a state file of every older version', () => {
  const versions = new Set(OLDER_FILES.map(({ version }) => version));
  expect([...versions]).toEqual(MIGRATIONS.map((_step, version) => version));
});

test.for(OLDER_FILES)(
  'killed at every statement of the migrations: $what',
  { timeout: 120_000 },
  async ({ version, make }) => {
    const round = await CrashRound.create('keep', createDice(version));
    const { directory, emulator } = round.site;
    mkdirSync(join(directory, '.botsync'));
    make(join(directory, '.botsync/state.db'));
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
      // Each file was sent once: before, nothing was on record.
      const upserts = emulator.requests
        .slice(requestsBefore)
        .filter(({ operation }) => operation === 'upsert');
      expect(upserts.map(({ key }) => key).sort()).toEqual([...round.tree.files.keys()].sort());
      await round.endsInSync();
    } finally {
      round.close();
    }
  },
);
