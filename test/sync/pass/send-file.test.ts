import { randomBytes } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type RuleSettings } from '../../../src/domain/settings.ts';
import { describeObstacle } from '../../../src/words/obstacle.ts';
import { START } from '../../platform/fixture.ts';
import { BOT, DAY_MS, LARGE, operations, resolved, sha256, stateOf, world } from './send-world.ts';

describe('a file', () => {
  test.each([0, 3, LARGE])('of %d bytes is sent, and what is reported is what was sent', async (size) => {
    const { write, send, emulator } = await world();
    const content = randomBytes(size);
    const path = write('a.txt', content);
    const result = await send();
    expect(result).toEqual({
      kind: 'sent',
      state: stateOf(path),
      settings: resolved().settings,
      sha256: sha256(content),
      expiresAtMs: null,
      remoteId: emulator.listFiles(BOT)[0]?.id,
      isMarked: false,
      url: emulator.listFiles(BOT)[0]?.url,
    });
    expect(result).toMatchObject({ state: { sizeBytes: size, settingsDigest: resolved().digest } });
    expect(operations(emulator)).toEqual(['upsert', 'upload']);
    expect(emulator.readContent(BOT, 'docs/a.txt')?.equals(content)).toBe(true);
  });

  test('is sent with what its settings say', async () => {
    const { write, send, emulator } = await world();
    write('a.txt', 'abc');
    const settings = resolved({
      index: true,
      tags: { a: 'b' },
      metadata: { n: 1 },
      accessPolicies: ['public_content'],
      publicContentImmediatelyAccessible: true,
      expires: { kind: 'in', lifetimeMs: DAY_MS },
    });
    const result = await send({ resolved: settings });
    const expiresAtMs = Math.floor((START + DAY_MS) / 60_000) * 60_000;
    expect(result).toMatchObject({ kind: 'sent', expiresAtMs });
    expect(emulator.requests[1]?.headers['x-amz-tagging']).toBe('public=true');
    expect(emulator.listFiles(BOT)[0]).toMatchObject({
      key: 'docs/a.txt',
      index: true,
      tags: { a: 'b' },
      metadata: { n: 1 },
      accessPolicies: ['public_content'],
      expiresAt: new Date(expiresAtMs).toISOString(),
      content: { size: 3 },
    });
  });

  test('is trusted when it was written long before it was read, and not when just now', async () => {
    const { write, send } = await world();
    write('a.txt', 'abc');
    const later = Date.now() + 60_000;
    expect(await send({}, { now: () => later })).toMatchObject({ kind: 'sent', state: { trusted: true } });
    expect(await send({}, { now: () => Date.now() })).toMatchObject({
      kind: 'sent',
      state: { trusted: false },
    });
  });
});

describe('without any request', () => {
  test.each<[string, RuleSettings, number, string, RegExp]>([
    ['more than limits.fileBytes', {}, 2_000_001, 'inadmissible', /limits\.fileBytes/u],
    ['more than limits.indexBytes', { index: true }, 1_000_001, 'inadmissible', /limits\.indexBytes/u],
    [
      'more than limits.indexBytes, to be skipped',
      { index: true, whenTooLargeToIndex: 'skip' },
      1_000_001,
      'inadmissible',
      /limits\.indexBytes/u,
    ],
    ['a tag that is too long', { tags: { a: 'x'.repeat(1001) } }, 3, 'inadmissible', /tag "a"/u],
    [
      'public at once without public_content',
      { publicContentImmediatelyAccessible: true },
      3,
      'inadmissible',
      /public_content/u,
    ],
    [
      'an expiry that is past',
      { expires: { kind: 'at', atMs: START - DAY_MS } },
      3,
      'inadmissible',
      /not in the future/u,
    ],
    [
      'an expiry too far away',
      { expires: { kind: 'at', atMs: START + 91 * DAY_MS } },
      3,
      'inadmissible',
      /90 days/u,
    ],
  ])('%s', async (_, rule, size, kind, reason) => {
    const { write, send, emulator } = await world();
    write('a.txt', Buffer.alloc(size));
    const result = await send({ resolved: resolved(rule) });
    expect(result.kind).toBe(kind);
    expect(result.kind === 'inadmissible' && describeObstacle(result.reason)).toMatch(reason);
    expect(operations(emulator)).toEqual([]);
  });

  test('a file that is gone, or is none', async () => {
    const { root, send, emulator } = await world();
    expect(await send()).toEqual({ kind: 'vanished' });
    symlinkSync('/etc/hostname', `${root}/a.txt`);
    expect(await send()).toEqual({
      kind: 'unreadable',
      reason: { kind: 'became-link' },
      upserted: false,
    });
    expect(operations(emulator)).toEqual([]);
  });

  test('but too large to index, to be uploaded without: the digest is that of what is sent', async () => {
    const { write, send, emulator } = await world();
    write('a.txt', Buffer.alloc(1_000_001));
    const rule = { index: true, whenTooLargeToIndex: 'upload-without-index' as const };
    expect(await send({ resolved: resolved(rule) })).toMatchObject({
      kind: 'sent',
      state: { settingsDigest: resolved({ index: false }).digest },
    });
    expect(emulator.listFiles(BOT)[0]?.index).toBe(false);
  });
});
