import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import { compareContent } from '../../src/files/compare-content.ts';
import { descriptorsOf } from '../descriptors.ts';
import { at, breakReading, makeSource } from './source-fixture.ts';

function sha256(content: Buffer | string): Buffer {
  return createHash('sha256').update(content).digest();
}

describe('a file that was touched', () => {
  test.each([0, 3, 600_000])('has the same content: %d bytes', async (size) => {
    const { source, write } = makeSource();
    const content = randomBytes(size);
    const facts = statSync(write('a', content), { bigint: true });
    const nowMs = Date.now();
    expect(await compareContent(source, at('a'), sha256(content), nowMs + 60_000)).toEqual({
      kind: 'same',
      fingerprint: fingerprintOf(facts),
      trusted: true,
    });
    expect(await compareContent(source, at('a'), sha256(content), nowMs)).toMatchObject({ trusted: false });
  });

  test('has another', async () => {
    const { source, write } = makeSource();
    write('a', 'abc');
    expect(await compareContent(source, at('a'), sha256('abd'), Date.now())).toEqual({ kind: 'other' });
  });

  test('is gone, or no file any more', async () => {
    const { root, source } = makeSource();
    symlinkSync('b', join(root, 'link'));
    for (const path of ['nothing', 'link', '.'])
      expect(await compareContent(source, at(path), sha256(''), Date.now())).toEqual({ kind: 'other' });
  });

  test('was changed while it was hashed', async () => {
    const { source, write } = makeSource();
    const path = write('a', Buffer.alloc(600_000, 'x'));
    const comparing = compareContent(source, at('a'), sha256(Buffer.alloc(600_000, 'x')), Date.now());
    appendFileSync(path, 'y');
    expect(await comparing).toEqual({ kind: 'other' });
  });

  test('cannot be read to its end', async () => {
    const { root, source, write } = makeSource();
    const path = write('a', Buffer.alloc(600_000, 'x'));
    const comparing = compareContent(source, at('a'), sha256(''), Date.now());
    for (const fd of descriptorsOf(path)) breakReading(fd, root);
    expect(await comparing).toEqual({ kind: 'other' });
  });

  test('is closed again', async () => {
    const { source, write } = makeSource();
    const path = write('a', 'abc');
    await compareContent(source, at('a'), sha256('abc'), Date.now());
    await compareContent(source, at('a'), sha256('other'), Date.now());
    expect(descriptorsOf(path)).toEqual([]);
  });
});
