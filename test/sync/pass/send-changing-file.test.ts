import { appendFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { descriptorsOf } from '../../descriptors.ts';
import { breakReading, rewriteSlyly } from '../../files/source-fixture.ts';
import { BOT, LARGE, operations, sha256, stateOf, world } from './send-world.ts';
import { whenUpserted } from '../../when-upserted.ts';

describe('a file that changes under our hands', () => {
  test('between the look and the reading is unsettled, and nothing was sent', async () => {
    const { write, send, emulator } = await world();
    const path = write('a.txt', 'abc');
    const before = stateOf(path);
    const limits = {
      indexBytes: 1e6,
      // Asked for when the file was opened and before it is read.
      get fileBytes() {
        appendFileSync(path, 'y');
        return 1e6;
      },
      indexableExtensions: [],
    };
    expect(await send({}, { limits })).toEqual({ kind: 'unsettled', upserted: false, state: before });
    expect(operations(emulator)).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    [
      'grown',
      (path) => {
        appendFileSync(path, 'y');
      },
    ],
    [
      'rewritten',
      (path) => {
        rewriteSlyly(path, Buffer.alloc(LARGE, 'y'));
      },
    ],
    [
      'removed',
      (path) => {
        rmSync(path);
      },
    ],
  ])('after the upsert is unsettled, and its upload never complete: %s', async (_, change) => {
    const { write, send, emulator, platform } = await world();
    const path = write('a.txt', Buffer.alloc(LARGE, 'x'));
    const before = stateOf(path);
    const result = await send(
      {},
      {
        platform: whenUpserted(platform, () => {
          change(path);
        }),
      },
    );
    expect(result).toMatchObject({ kind: 'unsettled', upserted: true, state: before });
    expect(emulator.readContent(BOT, 'docs/a.txt')).toBeNull();
  });

  test('after it was read whole is sent as it was', async () => {
    const { write, send, emulator, platform } = await world();
    const path = write('a.txt', 'abc');
    const before = stateOf(path);
    const rewritten = whenUpserted(platform, () => {
      rewriteSlyly(path, 'xyz');
    });
    expect(await send({}, { platform: rewritten })).toMatchObject({
      kind: 'sent',
      sha256: sha256('abc'),
      state: before,
    });
    expect(emulator.readContent(BOT, 'docs/a.txt')?.toString()).toBe('abc');
  });
});

test('a file that cannot be read to its end is unreadable, and its upload never complete', async () => {
  const { root, write, send, emulator, platform } = await world();
  const path = write('a.txt', Buffer.alloc(LARGE, 'x'));
  const broken = whenUpserted(platform, () => {
    for (const fd of descriptorsOf(path)) breakReading(fd, root);
  });
  expect(await send({}, { platform: broken })).toMatchObject({
    kind: 'unreadable',
    reason: { kind: 'unreadable', code: 'EISDIR' },
  });
  expect(emulator.readContent(BOT, 'docs/a.txt')).toBeNull();
});
