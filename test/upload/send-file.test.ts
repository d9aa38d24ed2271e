import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FileKey } from '../../src/domain/brands.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import type { FilePlatform } from '../../src/domain/file-platform.ts';
import { resolveSettings, settingsDigest, type RuleSettings } from '../../src/domain/settings.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import type { FaultAction } from '../../src/emulator/faults.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import {
  sendFile,
  type ReadState,
  type SendPorts,
  type SendResult,
  type SendTask,
} from '../../src/upload/send-file.ts';
import { start } from '../emulator/fixture.ts';
import { connect, NEVER, SimulatedClock, START } from '../platform/fixture.ts';
import { at, breakReading, descriptorsOf, makeSource, rewriteSlyly, type TestSource } from './fixture.ts';

const BOT = 'demo-bot';
const DAY_MS = 86_400_000;
const LARGE = 600_000;

function resolved(rule: RuleSettings = {}): SendTask['resolved'] {
  const settings = resolveSettings([rule], 'text/plain');
  return { settings, digest: settingsDigest(settings) };
}

function sha256(content: Buffer | string): Buffer {
  return createHash('sha256').update(content).digest();
}

interface World extends TestSource {
  readonly emulator: Emulator;
  readonly clock: SimulatedClock;
  readonly platform: FilePlatform;
  readonly send: (
    task?: Partial<SendTask>,
    ports?: Partial<SendPorts>,
    signal?: AbortSignal,
  ) => Promise<SendResult>;
}

/** A source, an emulator, and our client between them. */
async function world(options: Partial<EmulatorOptions> = {}): Promise<World> {
  const source = makeSource();
  const clock = new SimulatedClock();
  const { emulator } = await start({ recordRequests: true, now: () => START, ...options });
  const { platform } = connect(emulator.baseUrl, { token: emulator.token, clock });
  return {
    ...source,
    emulator,
    clock,
    platform,
    send: (task = {}, ports = {}, signal = NEVER) =>
      sendFile(
        {
          root: source.source,
          path: at('a.txt'),
          key: 'docs/a.txt' as FileKey,
          botId: BOT,
          resolved: resolved(),
          ...task,
        },
        {
          platform,
          limits: { indexBytes: 1_000_000, fileBytes: 2_000_000, indexableExtensions: [] },
          now: clock.now,
          ...ports,
        },
        signal,
      ),
  };
}

/** The operations that reached the platform, in their order. */
function operations(emulator: Emulator): string[] {
  return emulator.requests.map(({ operation }) => operation);
}

describe('a file', () => {
  test.each([0, 3, LARGE])('of %d bytes is sent, and what is reported is what was sent', async (size) => {
    const { write, send, emulator } = await world();
    const content = randomBytes(size);
    const path = write('a.txt', content);
    const result = await send();
    expect(result).toEqual({
      kind: 'sent',
      state: stateOf(path),
      sha256: sha256(content),
      expiresAtMs: null,
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
    expect(result).toEqual({ kind, reason: expect.stringMatching(reason) as string });
    expect(operations(emulator)).toEqual([]);
  });

  test('a file that is gone, or is none', async () => {
    const { root, send, emulator } = await world();
    expect(await send()).toEqual({ kind: 'vanished' });
    symlinkSync('/etc/hostname', `${root}/a.txt`);
    expect(await send()).toEqual({
      kind: 'unreadable',
      reason: 'a symbolic link was put in its place',
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
    reason: 'cannot be read: EISDIR',
  });
  expect(emulator.readContent(BOT, 'docs/a.txt')).toBeNull();
});

describe('a failure', () => {
  test.each<[string, FaultAction, object, boolean]>([
    ['credentials', { kind: 'status', status: 401 }, { kind: 'credentials', scope: 'all' }, false],
    ['of the bot', { kind: 'status', status: 403 }, { kind: 'credentials', scope: 'bot' }, false],
    ['quota', { kind: 'status', status: 402 }, { kind: 'quota' }, false],
    ['refused', { kind: 'status', status: 400 }, { kind: 'refused' }, false],
    ['transient', { kind: 'status', status: 500 }, { kind: 'transient' }, true],
    ['without an answer', { kind: 'apply-then-drop' }, { kind: 'transient' }, true],
    ['without sense', { kind: 'garbage' }, { kind: 'transient' }, true],
    ['without an address', { kind: 'missing-upload-url' }, { kind: 'transient' }, true],
  ])('of the upsert: %s', async (_, fault, failure, upserted) => {
    const { write, send, emulator } = await world();
    const path = write('a.txt', 'abc');
    emulator.faults.add({ operation: 'upsert', ...fault });
    expect(await send()).toMatchObject({ kind: 'failed', failure, upserted, state: stateOf(path) });
    expect(operations(emulator)).toEqual(['upsert']);
    expect((await send()).kind).toBe('sent');
  });

  test.each<[string, FaultAction, object]>([
    ['refused', { kind: 'status', status: 400 }, { kind: 'refused' }],
    ['an address that is used up', { kind: 'status', status: 403 }, { kind: 'transient' }],
    ['no answer', { kind: 'drop' }, { kind: 'transient' }],
  ])('of the upload: %s', async (_, fault, failure) => {
    for (const size of [3, LARGE]) {
      const { write, send, emulator } = await world();
      const path = write('a.txt', Buffer.alloc(size));
      emulator.faults.add({ operation: 'upload', ...fault });
      const result = await send();
      expect(result).toMatchObject({ kind: 'failed', failure, upserted: true, state: stateOf(path) });
      expect((await send()).kind).toBe('sent');
      expect(operations(emulator)).toEqual(['upsert', 'upload', 'upsert', 'upload']);
    }
  });

  test('by abort is a failure of ours, in either request', async () => {
    for (const operation of ['upsert', 'upload']) {
      const { write, send, emulator } = await world();
      write('a.txt', 'abc');
      emulator.faults.add({ operation, kind: 'hang' });
      const abort = new AbortController();
      const sending = send({}, {}, abort.signal);
      await expect.poll(() => emulator.faults.pending()).toEqual([]);
      abort.abort();
      expect(await sending).toMatchObject({
        kind: 'failed',
        failure: { kind: 'transient', message: 'interrupted' },
        upserted: true,
      });
    }
  });

  test('of whatever kind leaves no file open', async () => {
    const { write, send, emulator } = await world();
    const path = write('a.txt', Buffer.alloc(LARGE));
    for (const fault of [
      { kind: 'drop' },
      { kind: 'answer-then-drop' },
      { kind: 'status', status: 500 },
    ] as const) {
      for (const operation of ['upsert', 'upload']) {
        emulator.faults.add({ operation, ...fault });
        await send();
      }
    }
    expect(descriptorsOf(path)).toEqual([]);
  });
});

describe('an expiry under a wrong clock', () => {
  const inAnHour = resolved({ expires: { kind: 'in', lifetimeMs: 3_600_000 } });
  const in90Days = resolved({ expires: { kind: 'in', lifetimeMs: 90 * DAY_MS } });
  const minute = (ms: number): number => Math.floor(ms / 60_000) * 60_000;

  test.each([
    ['a day behind', -DAY_MS, inAnHour, minute(START + 3_600_000)],
    ['a day ahead', DAY_MS, in90Days, minute(START + 90 * DAY_MS - 60_000)],
  ])('%s is sent once more, by the time of the platform', async (_, offsetMs, settings, expiresAtMs) => {
    const { write, send, emulator, clock } = await world();
    write('a.txt', 'abc');
    clock.wallOffsetMs = offsetMs;
    expect(await send({ resolved: settings })).toMatchObject({ kind: 'sent', expiresAtMs });
    expect(operations(emulator)).toEqual(['upsert', 'upsert', 'upload']);
    expect(emulator.listFiles(BOT)[0]?.expiresAt).toBe(new Date(expiresAtMs).toISOString());
    // From now on the time is known.
    expect(await send({ resolved: settings })).toMatchObject({ kind: 'sent', expiresAtMs });
    expect(operations(emulator)).toEqual(['upsert', 'upsert', 'upload', 'upsert', 'upload']);
  });

  test('is refused for good when there is no such expiry by the time of the platform', async () => {
    const { write, send, emulator, clock } = await world();
    const path = write('a.txt', 'abc');
    clock.wallOffsetMs = -DAY_MS;
    const settings = resolved({ expires: { kind: 'at', atMs: START - 3_600_000 } });
    expect(await send({ resolved: settings })).toEqual({
      kind: 'failed',
      state: stateOf(path, settings.digest),
      failure: { kind: 'refused', message: expect.stringMatching(/not in the future/u) as string },
      upserted: false,
    });
    expect(operations(emulator)).toEqual(['upsert']);
  });

  test.each([
    ['without an expiry', resolved(), -DAY_MS],
    ['with a clock that is right', inAnHour, 0],
    ['with a fixed expiry', resolved({ expires: { kind: 'at', atMs: START + DAY_MS } }), -3_600_000],
  ])('is not to blame for a refusal %s', async (_, settings, offsetMs) => {
    const { write, send, emulator, clock } = await world();
    write('a.txt', 'abc');
    clock.wallOffsetMs = offsetMs;
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, times: 2 });
    expect(await send({ resolved: settings })).toMatchObject({
      failure: { kind: 'refused' },
      upserted: false,
    });
    expect(operations(emulator)).toEqual(['upsert']);
  });

  test('does not send again what failed otherwise, and the second answer counts', async () => {
    const { write, send, emulator, clock } = await world();
    write('a.txt', 'abc');
    clock.wallOffsetMs = -DAY_MS;
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 500 });
    expect(await send({ resolved: inAnHour })).toMatchObject({
      failure: { kind: 'transient' },
      upserted: true,
    });
    expect(operations(emulator)).toEqual(['upsert']);

    const again = await world();
    again.write('a.txt', 'abc');
    again.clock.wallOffsetMs = -DAY_MS;
    again.emulator.faults.add({ operation: 'upsert', kind: 'apply-then-drop', after: 1 });
    expect(await again.send({ resolved: inAnHour })).toMatchObject({
      failure: { kind: 'transient' },
      upserted: true,
    });
    expect(operations(again.emulator)).toEqual(['upsert', 'upsert']);
  });
});

/** A platform by whose time something happens as soon as it took an upsert. */
function whenUpserted(platform: FilePlatform, happen: () => void): FilePlatform {
  return {
    upsert: async (...request) => {
      const upserted = await platform.upsert(...request);
      happen();
      return upserted;
    },
    upload: (...request) => platform.upload(...request),
    now: () => platform.now(),
  };
}

/** What a file that was written just now looks like to an attempt. */
function stateOf(path: string, digest = resolved().digest): ReadState {
  const facts = statSync(path, { bigint: true });
  return {
    fingerprint: fingerprintOf(facts),
    trusted: false,
    settingsDigest: digest,
    sizeBytes: Number(facts.size),
  };
}
