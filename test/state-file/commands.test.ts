import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { createSite, run, type Site } from '../cli/binary.ts';
import { launch, remote } from '../cli/running-daemon.ts';
import { keptBeside, PAGE_BYTES } from './fixture.ts';
import { bind, bindReadOnly, NO_MOUNTS, unmount } from '../mounts.ts';

const FILES = 40;

interface SyncedSite extends Site {
  readonly stateFile: string;
}

/** A site in sync that would remove what went, and something went. */
async function createSynced(): Promise<SyncedSite> {
  const site = await createSite({ removals: { mode: 'expire' } });
  for (let n = 0; n < FILES; n++) site.write(`docs/${'name-'.repeat(30)}${n}`, `content ${n}`);
  expect((await site.sync()).code).toBe(0);
  rmSync(join(site.directory, `docs/${'name-'.repeat(30)}7`));
  return { ...site, stateFile: join(site.directory, '.botsync/state.db') };
}

/** What stands in the directory of the state file: names, sizes and times. */
function snapshot({ stateFile }: SyncedSite): [string, string][] {
  return readdirSync(join(stateFile, '..')).map((name) => {
    const { mtimeMs, size } = statSync(join(stateFile, '..', name));
    return [name, `${size} ${mtimeMs}`];
  });
}

/** Makes a file one that cannot be renamed; false where that is not allowed. */
const bindOnItself = (file: string): boolean => bind(file, file);

/** Keys of the files whose content the platform has, untouched. */
function remoteFiles(site: Site): string[] {
  return site.emulator
    .listFiles('bot-1')
    .filter(({ key }) => /^content \d+$/u.test(remote(site, key) ?? ''))
    .map(({ key }) => key);
}

/** What is said of a directory that cannot be written: by its mount, or by its mode. */
const ofDirectory = (isBound: boolean): RegExp =>
  isBound ? /is on a read-only file system/u : /run: chmod u\+rwX/u;

/** The commands that only read. */
const READERS = [['status'], ['explain', `docs/${'name-'.repeat(30)}3`], ['sync', '--dry-run']];

function damage({ stateFile }: SyncedSite, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(stateFile, change(readFileSync(stateFile)));
}

describe('a damaged state file', () => {
  test.each<[string, (site: SyncedSite) => void]>([
    [
      'cut within a page',
      (site) => {
        damage(site, (bytes) => bytes.subarray(0, 5 * PAGE_BYTES + 700));
      },
    ],
    [
      'rows overwritten, which shows only in the midst',
      (site) => {
        damage(site, (bytes) => {
          for (let at = bytes.indexOf('synced'); at !== -1; at = bytes.indexOf('synced', at))
            bytes.write('sunken', at);
          return bytes;
        });
      },
    ],
    [
      'a summary that is none',
      (site) => {
        damage(site, (bytes) => {
          for (let at = bytes.indexOf('{"uploaded'); at !== -1; at = bytes.indexOf('{"uploaded', at))
            bytes.write('|', at);
          return bytes;
        });
      },
    ],
  ])(
    '%s: those who read say so and write nothing; a pass builds a new one and removes nothing',
    async (what, harm) => {
      const site = await createSynced();
      harm(site);
      const before = snapshot(site);
      const readers = await Promise.all(READERS.map((args) => run(site.directory, args, site.env)));
      const told = readers.filter(({ code }) => code !== 0);
      for (const { code, stderr } of told) {
        expect(code).toBe(2);
        expect(stderr).toContain(`${site.stateFile} is damaged (`);
        expect(stderr).toContain('the next "sync --once" sets it aside');
      }
      // No pass reads what is only shown.
      const isOnlyShown = what === 'a summary that is none';
      expect(told.length).toBeGreaterThanOrEqual(isOnlyShown ? 1 : 2);
      expect(snapshot(site)).toEqual(before);

      const pass = await site.sync('--log-level', 'warn');
      expect(pass.code).toBe(0);
      if (!isOnlyShown) {
        expect(pass.stderr).toMatch(/THE STATE FILE (IS|WAS) DAMAGED/u);
        expect(keptBeside(site.stateFile).map((file) => pass.stderr.includes(file))).toEqual([true]);
        expect(pass.lines().at(-1)).toMatchObject({ uploaded: FILES - 1, removed: 0 });
        expect(remoteFiles(site)).toHaveLength(FILES);
      }
      expect((await site.sync()).lines().at(-1)).toMatchObject({
        kind: 'summary',
        unchanged: FILES - 1,
        failed: 0,
      });
      expect((await run(site.directory, ['status'], site.env)).code).toBe(0);
    },
  );

  test('met by a daemon at its start is told of, kept, and rebuilt; nothing is removed', async () => {
    const site = await createSynced();
    damage(site, (bytes) => bytes.fill(0, PAGE_BYTES));
    const daemon = await launch(site);
    expect(daemon.log().map(({ msg }) => String(msg))).toContainEqual(
      expect.stringMatching(/STATE FILE (IS|WAS) DAMAGED/u),
    );
    expect(keptBeside(site.stateFile)).toHaveLength(1);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(remoteFiles(site)).toHaveLength(FILES);
    expect((await site.sync()).lines()).toMatchObject([{ kind: 'summary', unchanged: FILES - 1 }]);
  });

  test.for([
    ['cannot be renamed', bindOnItself, /is damaged \(.*\), and it cannot be renamed: EBUSY/u],
    ['cannot be written either', bindReadOnly, /state\.db is on a read-only file system/u],
  ] as const)('that %s ends the pass in words, and later all is well', async ([, hold, says], context) => {
    const site = await createSynced();
    damage(site, (bytes) => bytes.fill(0x5a, PAGE_BYTES));
    if (!hold(site.stateFile)) context.skip(NO_MOUNTS);
    for (const args of [['sync', '--once'], ['sync']]) {
      const refused = await run(site.directory, args, site.env);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(site.stateFile);
      expect(refused.stderr).toMatch(says);
      expect(refused.stderr).not.toContain('defect');
    }
    expect(remoteFiles(site)).toHaveLength(FILES);
    unmount(site.stateFile);
    const pass = await site.sync('--log-level', 'warn');
    expect(pass).toMatchObject({ code: 0, stderr: expect.stringMatching(/DAMAGED/u) as string });
    expect(pass.lines().at(-1)).toMatchObject({ uploaded: FILES - 1, removed: 0 });
  });
});

test('one of a newer version is left as it is, byte for byte, by a daemon and with --force as well', async () => {
  const site = await createSynced();
  const database = new DatabaseSync(site.stateFile);
  database.exec('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const before = readFileSync(site.stateFile);
  const counts = [...site.emulator.counts];
  for (const args of [['sync'], ['sync', '--once', '--force']]) {
    const refused = await run(site.directory, args, site.env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`${site.stateFile} was written by a newer botsync`);
  }
  expect(readFileSync(site.stateFile).equals(before)).toBe(true);
  expect(keptBeside(site.stateFile)).toEqual([]);
  expect([...site.emulator.counts]).toEqual(counts);
});

describe('a state file that cannot be written', () => {
  test.each(['file', 'directory'] as const)(
    'its %s being read-only: in words, nothing is sent or removed, those who read go on, later all is well',
    async (what) => {
      const site = await createSynced();
      site.write('docs/new', 'content 1000');
      const place = what === 'file' ? site.stateFile : join(site.stateFile, '..');
      const isBound = bindReadOnly(place);
      if (!isBound && process.getuid?.() === 0) return;
      if (!isBound) chmodSync(place, what === 'file' ? 0o400 : 0o500);
      const before = readFileSync(site.stateFile);
      const counts = [...site.emulator.counts];
      const refused = await run(site.directory, ['sync', '--once', '--log-level', 'silent'], site.env);
      // The file can be opened: that it cannot be written shows only in the midst of the pass.
      expect(refused.code).toBe(what === 'file' ? 3 : 2);
      expect(refused.stderr).toContain(site.stateFile);
      expect(refused.stderr).toMatch(
        what === 'file' ? /check that this user may write there/u : ofDirectory(isBound),
      );
      expect(refused.stderr).not.toContain('defect');
      for (const args of [['status'], ['sync', '--dry-run']])
        expect((await run(site.directory, args, site.env)).code).toBe(0);
      expect(readFileSync(site.stateFile).equals(before)).toBe(true);
      expect([...site.emulator.counts]).toEqual(counts);
      if (isBound) unmount(place);
      else chmodSync(place, 0o700);
      const pass = await site.sync();
      expect(pass.code).toBe(0);
      expect(pass.lines().at(-1)).toMatchObject({ uploaded: 1, removed: 1, unchanged: FILES - 1 });
    },
  );
});

describe('the lock beside it', () => {
  test('being garbage is told of with the mend; being gone, or without its holder, is nothing', async () => {
    const site = await createSynced();
    const lock = `${site.stateFile}.lock`;
    for (const end of ['', '.json']) rmSync(lock + end, { force: true });
    expect((await site.sync()).code).toBe(0);
    writeFileSync(`${lock}.json`, 'half');
    expect((await site.sync()).code).toBe(0);
    expect(existsSync(`${lock}.json`)).toBe(false);
    writeFileSync(lock, 'no lock at all\n'.repeat(500));
    const refused = await site.sync();
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`remove ${lock}`);
    rmSync(lock);
    mkdirSync(lock);
    expect(await site.sync()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(site.stateFile) as string,
    });
    rmSync(lock, { recursive: true });
    expect((await site.sync()).lines().at(-1)).toMatchObject({ unchanged: FILES - 1, failed: 0 });
  });
});

test('a state file of an older version is set aside, and what the bot has already is not sent again', async () => {
  const site = await createSite({}, {}, 'auto');
  for (let n = 0; n < FILES; n++) site.write(`docs/${n}.md`, `content ${n}`);
  expect((await site.sync()).code).toBe(0);
  const stateFile = join(site.directory, '.botsync/state.db');
  const older = gunzipSync(readFileSync(join(import.meta.dirname, 'older/version-6.db.gz')));
  writeFileSync(stateFile, older);
  for (const args of [['status'], ['explain', 'docs/3.md'], ['sync', '--dry-run']]) {
    const { code, stderr } = await run(site.directory, args, site.env);
    expect(code).toBe(2);
    expect(stderr).toContain(`${stateFile} was written by an older botsync`);
    expect(stderr).toContain('the next "sync --once" sets it aside');
  }
  const before = site.emulator.requests.length;
  const pass = await site.sync('--log-level', 'warn');
  expect(pass.code).toBe(0);
  expect(pass.stderr).toContain('was written by an older botsync. It is kept as ');
  expect(pass.lines().at(-1)).toMatchObject({ uploaded: 0, adopted: FILES });
  const sent = site.emulator.requests.slice(before).filter(({ operation }) => operation === 'upload');
  expect(sent).toEqual([]);
  const [kept] = keptBeside(stateFile);
  expect(readFileSync(kept ?? '').equals(older)).toBe(true);
  expect(remoteFiles(site)).toHaveLength(FILES);
});
