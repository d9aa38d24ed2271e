import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/emulator.ts';
import { findFile, readText, start, store, temporaryDir, upload, upsert } from './fixture.ts';

describe('a restart', () => {
  test('finds files, content, open uploads and identity again', async () => {
    const { emulator: first } = await start();
    await store(first, 'a.txt', 'content', { tags: { t: 'v' }, metadata: { m: [1] } });
    const open = await upsert(first, { key: 'b.txt', size: 3 });
    const before = findFile(first, 'a.txt');
    await first.close();

    const { emulator: second } = await start({ dataDir: first.dataDir });
    const withoutUrl = { ...before, url: '' };
    expect({ ...findFile(second, 'a.txt'), url: '' }).toEqual(withoutUrl);
    expect(readText(second, 'a.txt')).toBe('content');
    const address = new URL(open.uploadUrl);
    const moved = { ...open, uploadUrl: `${second.baseUrl}${address.pathname}${address.search}` };
    expect((await upload(moved, 'abc')).status).toBe(200);
    for (const name of ['token', 'workspaceId', 'webhookId', 'userKey'] as const) {
      expect(second[name]).toBe(first[name]);
      expect(second[name].length).toBeGreaterThan(15);
    }
  });

  test('after a kill finds the same and clears what was left half done', async () => {
    const { emulator: first } = await start();
    await store(first, 'a.txt', 'content');
    await upsert(first, { key: 'b.txt', size: 3 });
    // What a kill leaves is what is on disk at that moment.
    const dataDir = join(temporaryDir(), 'killed');
    cpSync(first.dataDir, dataDir, { recursive: true });
    const incoming = join(dataDir, 'incoming', 'half');
    const orphan = join(dataDir, 'content', 'ab', 'abcdef');
    mkdirSync(join(dataDir, 'content', 'ab'), { recursive: true });
    writeFileSync(incoming, 'x');
    writeFileSync(orphan, 'x');

    const { emulator: second } = await start({ dataDir });
    expect(readText(second, 'a.txt')).toBe('content');
    expect(findFile(second, 'b.txt')?.status).toBe('upload_pending');
    expect(existsSync(incoming)).toBe(false);
    expect(existsSync(orphan)).toBe(false);
  });

  test('counts what is there against the quotas', async () => {
    const { emulator: first } = await start();
    await upsert(first, { key: 'a.txt', size: 60, index: true });
    await first.close();
    const { emulator: second } = await start({
      dataDir: first.dataDir,
      quotas: { fileStorageBytes: 100, vectorStorageBytes: 70 },
    });
    await expect(upsert(second, { key: 'b.txt', size: 41 })).rejects.toThrow(/QuotaExceeded/);
    await expect(upsert(second, { key: 'b.txt', size: 11, index: true })).rejects.toThrow(/QuotaExceeded/);
    await upsert(second, { key: 'b.txt', size: 40 });
  });

  test('refuses data of another version or a damaged identity, saying what to do', async () => {
    const dataDir = temporaryDir();
    writeFileSync(join(dataDir, 'identity.json'), '{}');
    await expect(startEmulator({ dataDir })).rejects.toThrow(/identity\.json is damaged; remove it/);

    const { emulator } = await start();
    await emulator.close();
    const database = new DatabaseSync(join(emulator.dataDir, 'emulator.db'));
    for (const version of [1, 99]) {
      database.exec(`PRAGMA user_version = ${version}`);
      const starting = startEmulator({ dataDir: emulator.dataDir });
      await expect(starting).rejects.toThrow(/another version of the emulator; remove its directory/);
    }
    database.close();
  });
});

describe('bots', () => {
  test('there is a default one only when there would be none', async () => {
    const { emulator } = await start();
    expect(emulator.bots).toEqual([{ id: 'demo-bot', name: 'Demo bot' }]);
    const { emulator: other } = await start({ bots: [{ id: 'b1', name: 'One' }] });
    expect(other.bots).toEqual([{ id: 'b1', name: 'One' }]);
  });

  test('given ones are added to those in the data, renamed when the name changed', async () => {
    const { emulator: first } = await start({ bots: [{ id: 'b1', name: 'One' }] });
    await first.close();
    const bots = [
      { id: 'b2', name: 'Two' },
      { id: 'b1', name: 'Uno' },
    ];
    const { emulator: second } = await start({ dataDir: first.dataDir, bots });
    expect(second.bots).toEqual([
      { id: 'b1', name: 'Uno' },
      { id: 'b2', name: 'Two' },
    ]);
    await second.close();
    const { emulator: third } = await start({ dataDir: first.dataDir });
    expect(third.bots).toEqual(second.bots);
  });
});

test('a given token and workspace replace the kept ones for one run', async () => {
  const { emulator: first } = await start({ token: 'given', workspaceId: 'ws' });
  expect(first).toMatchObject({ token: 'given', workspaceId: 'ws' });
  await upsert(first, { key: 'a.txt', size: 1 });
  await first.close();
  const { emulator: second } = await start({ dataDir: first.dataDir });
  expect(second.token).not.toBe('given');
});

test('secrets and data are for the owner only', async () => {
  const dataDir = join(temporaryDir(), 'new', 'data');
  const { emulator } = await start({ dataDir });
  await store(emulator, 'a.txt', 'content');
  const path = findFile(emulator, 'a.txt')?.content?.path ?? '';
  const modes = [
    dataDir,
    join(dataDir, 'content'),
    join(dataDir, 'identity.json'),
    join(dataDir, 'emulator.db'),
    path,
  ];
  expect(modes.map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600, 0o600]);
  expect(readFileSync(path, 'utf8')).toBe('content');
});
