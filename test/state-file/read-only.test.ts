import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openState, setAside } from '../../src/store/open.ts';
import { contentsOf, NOW, temporaryDirectory, writtenFile } from '../store/fixture.ts';
import { bindReadOnly, fill, mountSmall, NO_MOUNTS } from '../mounts.ts';

const KEPT = 'state.db.damaged-2026-03-01T120010.500Z';

/** A state file that is no database any more. */
function damagedFile(): string {
  const file = join(temporaryDirectory(), 'state.db');
  writeFileSync(file, 'no database at all\n'.repeat(500));
  return file;
}

test('a damaged file that cannot be renamed is unusable, with the damage, the reason, and nothing touched', (context) => {
  const file = damagedFile();
  if (!bindReadOnly(dirname(file))) context.skip(NO_MOUNTS);
  const before = contentsOf(dirname(file));
  expect(openState(file, { checkThoroughly: false, nowMs: NOW })).toEqual({
    kind: 'unusable',
    reason: expect.stringMatching(
      /^it is damaged \(file is not a database\), and it cannot be renamed: EROFS/u,
    ) as string,
  });
  expect(contentsOf(dirname(file))).toEqual(before);
});

test('so is one that alone cannot be moved', (context) => {
  const file = damagedFile();
  if (!bindReadOnly(file)) context.skip(NO_MOUNTS);
  expect(setAside(file, 'damaged', NOW)).toMatchObject({
    kind: 'failed',
    reason: expect.stringMatching(/EBUSY/u) as string,
  });
  expect(openState(file, { checkThoroughly: false, nowMs: NOW })).toMatchObject({ kind: 'unusable' });
  expect(readdirSync(dirname(file))).toContain('state.db');
});

test('a damaged file on a full disk is kept, and that no new one can be made is told', (context) => {
  const directory = join(temporaryDirectory(), 'small');
  if (!mountSmall(directory, '64k')) context.skip(NO_MOUNTS);
  const file = join(directory, 'state.db');
  const damage = 'no database at all\n'.repeat(50);
  writeFileSync(file, damage);
  fill(directory);
  expect(openState(file, { checkThoroughly: false, nowMs: NOW })).toEqual({
    kind: 'unusable',
    reason: expect.stringMatching(
      /^it is damaged \(file is not a database\) and is kept as .*damaged-.*; a new one cannot be made: /u,
    ) as string,
  });
  expect(readFileSync(join(directory, KEPT), 'utf8')).toBe(damage);
});

test('a sound file on a full disk is unusable or says so with the first write, and loses nothing', (context) => {
  const directory = join(temporaryDirectory(), 'small');
  if (!mountSmall(directory, '200k')) context.skip(NO_MOUNTS);
  const file = writtenFile(directory);
  const bytes = readFileSync(file);
  fill(directory);
  const opened = openState(file, { checkThoroughly: true, nowMs: NOW });
  if (opened.kind === 'open') {
    expect(() => {
      opened.store.savePass(1, NOW, 0, '{}');
      opened.store.close();
    }).toThrow(expect.objectContaining({ kind: 'unwritable' }) as Error);
  } else expect(opened.kind).toBe('unusable');
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test('a sound file that is read-only, or lies in a directory that is, says so and stays as it is', (context) => {
  for (const what of ['file', 'directory'] as const) {
    const file = writtenFile();
    if (!bindReadOnly(what === 'file' ? file : dirname(file))) context.skip(NO_MOUNTS);
    const bytes = readFileSync(file);
    const opened = openState(file, { checkThoroughly: true, nowMs: NOW });
    if (opened.kind === 'open') {
      expect(() => {
        opened.store.savePass(1, NOW, 0, '{}');
      }).toThrow(expect.objectContaining({ kind: 'unwritable' }) as Error);
    } else expect(opened).toMatchObject({ kind: 'unusable', reason: expect.any(String) as string });
    expect(readFileSync(file).equals(bytes)).toBe(true);
  }
});
