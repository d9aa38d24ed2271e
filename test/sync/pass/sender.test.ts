import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileKey } from '../../../src/domain/brands.ts';
import type { FilePlatform } from '../../../src/domain/file-platform.ts';
import { resolveSettings, settingsDigest } from '../../../src/domain/settings.ts';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import type { Fault } from '../../../src/emulator/faults.ts';
import { sendWithRetries, type SenderPorts, type Sent } from '../../../src/sync/pass/sender.ts';
import { CircuitBreaker } from '../../../src/upload/circuit-breaker.ts';
import { start } from '../../emulator/fixture.ts';
import { connect, NEVER, SimulatedClock, sleepless } from '../../platform/fixture.ts';
import { at, makeSource, type TestSource } from '../../upload/fixture.ts';
import { whenUpserted } from '../../when-upserted.ts';

const ATTEMPTS = 4;
const GIVE_UP_MS = 120_000;

interface World extends TestSource {
  readonly emulator: Emulator;
  readonly platform: FilePlatform;
  readonly clock: SimulatedClock;
  readonly breaker: CircuitBreaker;
  /** Reasons and delays of the retries. */
  readonly retries: (readonly [string, number])[];
  readonly send: (path: string, options?: Options) => Promise<Sent>;
}

interface Options {
  readonly ports?: Partial<SenderPorts>;
  readonly stop?: AbortSignal;
  readonly abort?: AbortSignal;
}

async function world(faults: readonly Fault[] = [], random: () => number = () => 0.5): Promise<World> {
  const source = makeSource();
  const clock = new SimulatedClock();
  const { emulator } = await start({ now: clock.now });
  const { platform } = connect(emulator.baseUrl, { token: emulator.token, clock });
  for (const fault of faults) emulator.faults.add(fault);
  const breaker = new CircuitBreaker(clock, () => 0.999_999, {
    longestOutageMs: GIVE_UP_MS,
    parkAfterMs: Infinity,
    opened: () => undefined,
    closed: () => undefined,
  });
  const retries: (readonly [string, number])[] = [];
  const settings = resolveSettings([], 'text/plain');
  return {
    ...source,
    emulator,
    platform,
    clock,
    breaker,
    retries,
    send: (path, { ports = {}, stop = NEVER, abort = NEVER } = {}) =>
      sendWithRetries(
        {
          root: source.source,
          path: at(path),
          key: path as FileKey,
          botId: 'demo-bot',
          resolved: { settings, digest: settingsDigest(settings) },
          markedAs: null,
        },
        {
          platform,
          limits: { indexBytes: 1e6, fileBytes: 1e6, indexableExtensions: [] },
          now: clock.now,
          transfer: (attempt) => attempt(),
          isBlocked: () => false,
          onAttempt: () => undefined,
          clock,
          random,
          breaker,
          name: path,
          isFresh: false,
          waitsForOutage: () => true,
          longestPauseMs: 120_000,
          attempts: ATTEMPTS,
          settleMs: 777,
          onRetry: (reason, delayMs) => retries.push([reason, delayMs]),
          ...ports,
        },
        stop,
        abort,
      ),
  };
}

/** What fails for this file alone. */
function failing(times: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault {
  const type = 'ResourceLockedConflict';
  return { operation: 'upsert', kind: 'status', status: 409, type, message: 'no', times, ...more };
}

/** What may be the platform's trouble as a whole. */
function away(times: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault {
  return { operation: 'upsert', kind: 'status', status: 503, times, ...more };
}

describe('a file that fails for the time being', () => {
  test('is sent again until it is taken', async () => {
    const { write, send, emulator, clock, retries } = await world([failing(2)]);
    write('a', 'abc');
    expect((await send('a')).kind).toBe('sent');
    expect(emulator.counts.get('upsert')).toBe(3);
    expect(retries).toEqual([
      ['409 ResourceLockedConflict: no', 250],
      ['409 ResourceLockedConflict: no', 500],
    ]);
    expect(clock.slept).toEqual([250, 500]);
  });

  test('tells of each failure before anything else is sent', async () => {
    const { write, send, emulator } = await world([failing(2), failing(1, { status: 402 })]);
    write('a', 'abc');
    const told: unknown[] = [];
    await send('a', {
      ports: {
        onAttempt: (result) => {
          if (result.kind === 'failed') told.push([result.failure.kind, emulator.counts.get('upsert')]);
        },
      },
    });
    expect(told).toEqual([
      ['transient', 1],
      ['transient', 2],
      ['quota', 3],
    ]);
  });

  test('is given up after so many attempts, without a wait at the end', async () => {
    const { write, send, emulator, clock } = await world([failing(Infinity)]);
    write('a', 'abc');
    expect(await send('a')).toMatchObject({ kind: 'failed', failure: { kind: 'transient' }, upserted: true });
    expect(emulator.counts.get('upsert')).toBe(ATTEMPTS);
    expect(clock.slept).toEqual([250, 500, 1000]);
  });

  test.each([
    ['not at all', 0, [0, 0, 0]],
    ['up to the ceiling of each attempt', 0.999, [499.5, 999, 1998]],
  ])('waits by chance: %s', async (_, random, delays) => {
    const { write, send, retries } = await world([failing(3)], () => random);
    write('a', 'abc');
    expect((await send('a')).kind).toBe('sent');
    expect(retries.map(([, delayMs]) => delayMs)).toEqual(delays);
  });

  test('never comes back sooner than the platform asked', async () => {
    const { write, send, clock, retries } = await world(
      [failing(1, { headers: { 'Retry-After': '60' } })],
      () => 0,
    );
    write('a', 'abc');
    expect((await send('a')).kind).toBe('sent');
    expect(retries.map(([, delayMs]) => delayMs)).toEqual([60_000]);
    expect(clock.monotonic()).toBe(60_000);
  });

  test('gets a new upload address when the old one is not accepted', async () => {
    const { write, send, emulator } = await world([{ operation: 'upload', kind: 'status', status: 403 }]);
    write('a', 'abc');
    expect((await send('a')).kind).toBe('sent');
    expect(emulator.counts.get('upsert')).toBe(2);
  });
});

describe('what is not tried again', () => {
  test.each<[string, Fault, object]>([
    ['credentials', failing(1, { status: 401 }), { failure: { kind: 'credentials' } }],
    ['quota', failing(1, { status: 402 }), { failure: { kind: 'quota' } }],
    ['a refusal', failing(1, { status: 400 }), { failure: { kind: 'refused' } }],
    [
      'a refusal by the store',
      { operation: 'upload', kind: 'status', status: 400 },
      { failure: { kind: 'refused' } },
    ],
  ])('%s', async (_, fault, expected) => {
    const { write, send, emulator, clock } = await world([fault]);
    write('a', 'abc');
    expect(await send('a')).toMatchObject({ kind: 'failed', ...expected });
    expect(emulator.counts.get('upsert')).toBe(1);
    expect(clock.slept).toEqual([]);
  });

  test('a file that is gone, or too large', async () => {
    const { write, send, clock, emulator } = await world();
    write('large', Buffer.alloc(1_000_001));
    expect((await send('nothing')).kind).toBe('vanished');
    expect((await send('large')).kind).toBe('inadmissible');
    expect(clock.slept).toEqual([]);
    expect(emulator.counts.size).toBe(0);
  });
});

describe('a file that is written to while it is read', () => {
  test('is tried again when it had time to settle', async () => {
    const { root, write, send, emulator, clock, retries, platform } = await world();
    write('a', Buffer.alloc(600_000, 'x'));
    const disturbed = whenUpserted(platform, (upserts) => {
      if (upserts < 3) writeFileSync(join(root, 'a'), Buffer.alloc(600_000 + upserts, 'y'));
    });
    const result = await send('a', { ports: { platform: disturbed } });
    expect(result).toMatchObject({ kind: 'sent', state: { sizeBytes: 600_002 } });
    expect(retries).toEqual([
      ['it was changed while it was read', 777],
      ['it was changed while it was read', 777],
    ]);
    expect(clock.slept).toEqual([777, 777]);
    expect(emulator.readContent('demo-bot', 'a')?.length).toBe(600_002);
  });

  test('again and again is given up after as many attempts', async () => {
    const { root, write, send, emulator, platform } = await world();
    write('a', Buffer.alloc(600_000, 'x'));
    const disturbed = whenUpserted(platform, (upserts) => {
      writeFileSync(join(root, 'a'), Buffer.alloc(600_000 + upserts, 'y'));
    });
    const result = await send('a', { ports: { platform: disturbed } });
    expect(result).toMatchObject({ kind: 'unsettled', upserted: true });
    expect(emulator.counts.get('upsert')).toBe(ATTEMPTS);
    expect(emulator.readContent('demo-bot', 'a')).toBeNull();
  });
});

describe('a stop', () => {
  test('before the first attempt means that none is made', async () => {
    const { write, send, emulator } = await world();
    write('a', 'abc');
    expect(await send('a', { stop: AbortSignal.abort() })).toEqual({ kind: 'not-tried' });
    expect(emulator.counts.size).toBe(0);
  });

  test('while a retry waits ends with the last failure, at once', async () => {
    const { write, send, emulator, clock } = await world([failing(Infinity)]);
    write('a', 'abc');
    const stop = new AbortController();
    const result = await send('a', {
      stop: stop.signal,
      ports: {
        clock: sleepless(clock),
        onRetry: () =>
          setImmediate(() => {
            stop.abort();
          }),
      },
    });
    expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'transient' } });
    expect(emulator.counts.get('upsert')).toBe(1);
  });

  test('while an attempt fails is no reason to tell of another one', async () => {
    const { write, send, retries } = await world([failing(Infinity)]);
    write('a', 'abc');
    const stop = new AbortController();
    const onAttempt = (): void => {
      stop.abort();
    };
    expect(await send('a', { stop: stop.signal, ports: { onAttempt } })).toMatchObject({ kind: 'failed' });
    expect(retries).toEqual([]);
  });

  test('lets the attempt under way come to its end, an abort does not', async () => {
    const { write, send, emulator } = await world([{ operation: 'upsert', kind: 'hang' }]);
    write('a', 'abc');
    const stop = new AbortController();
    const sending = send('a', { stop: stop.signal });
    await expect.poll(() => emulator.faults.pending()).toEqual([]);
    stop.abort();
    emulator.faults.clear();
    expect((await sending).kind).toBe('sent');

    emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    const [stopAgain, abort] = [new AbortController(), new AbortController()];
    const aborted = send('a', { stop: stopAgain.signal, abort: abort.signal });
    await expect.poll(() => emulator.faults.pending()).toEqual([]);
    stopAgain.abort();
    abort.abort();
    expect(await aborted).toMatchObject({ kind: 'failed', failure: { message: 'interrupted' } });
  });

  test('what was broken off is no outage', async () => {
    const { write, send, emulator, breaker } = await world();
    write('a', 'abc');
    for (let i = 0; i < 12; i += 1)
      expect(await send('a', { abort: AbortSignal.abort(), ports: { attempts: 1 } })).toMatchObject({
        failure: { message: 'interrupted' },
      });
    expect(breaker.state).toBe('closed');
    expect(emulator.counts.size).toBe(0);
  });
});

describe('a place among the transfers', () => {
  test('is held for each attempt, not while a retry waits', async () => {
    const { write, send } = await world([failing(2)]);
    write('a', 'abc');
    const seen: string[] = [];
    const result = await send('a', {
      ports: {
        transfer: async (attempt) => {
          seen.push('taken');
          const value = await attempt();
          seen.push('left');
          return value;
        },
        onRetry: () => seen.push('waits'),
      },
    });
    expect(result.kind).toBe('sent');
    expect(seen).toEqual(['taken', 'left', 'waits', 'taken', 'left', 'waits', 'taken', 'left']);
  });

  test('is left without an attempt when a stop came, or when others found that it is no use', async () => {
    const { write, send, emulator, retries } = await world([failing(Infinity)]);
    write('a', 'abc');
    const stop = new AbortController();
    const stopped = await send('a', {
      stop: stop.signal,
      ports: {
        transfer: (attempt) => {
          stop.abort();
          return attempt();
        },
      },
    });
    expect(stopped).toEqual({ kind: 'not-tried' });
    expect(await send('a', { ports: { isBlocked: () => true } })).toEqual({ kind: 'not-tried' });
    expect(emulator.counts.size).toBe(0);

    let asked = 0;
    const blockedLater = await send('a', { ports: { isBlocked: () => ++asked > 1 } });
    expect(blockedLater).toMatchObject({ kind: 'failed', upserted: true });
    expect(retries).toHaveLength(1);
    expect(emulator.counts.get('upsert')).toBe(1);
  });
});

describe('during an outage', () => {
  test('attempts are not counted against a file: it is sent when the platform is back', async () => {
    const { write, send, emulator, breaker, clock, retries } = await world([away(7)]);
    write('a', 'abc');
    expect((await send('a')).kind).toBe('sent');
    expect(breaker.state).toBe('closed');
    expect(emulator.counts.get('upsert')).toBe(8);
    expect(Math.round(clock.monotonic() / 1000)).toBe(1 + 2 + 4 + 8 + 16 + 30 + 30);
    expect(retries.map(([, delayMs]) => Math.round(delayMs / 1000))).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  test('few requests are made: one probe at a time, not one a file', async () => {
    const { write, send, emulator, breaker } = await world([away(20)]);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    for (const name of names) write(name, 'abc');
    const results = await Promise.all(names.map((name) => send(name, { ports: { longestPauseMs: 1e9 } })));
    expect(results.map(({ kind }) => kind)).toEqual(names.map(() => 'failed'));
    expect(breaker.isHopeless).toBe(true);
    // Ten were under way when it was noticed; probes after 1, 2, 4, 8, 16, 30, 30 s and at the end.
    expect(emulator.counts.get('upsert')).toBe(10 + 8);
  });

  test('that does not end everything is given up in time: what failed has failed, what was not tried was not', async () => {
    const { write, send, emulator, clock, breaker } = await world([away(Infinity)]);
    for (const name of ['a', 'late']) write(name, 'abc');
    expect((await send('a')).kind).toBe('failed');
    expect(breaker.isHopeless).toBe(true);
    expect(Math.round(clock.monotonic())).toBe(GIVE_UP_MS);
    const asked = emulator.counts.get('upsert') ?? 0;
    expect(await send('late')).toEqual({ kind: 'not-tried' });
    expect(emulator.counts.get('upsert')).toBe(asked);
  });

  test('a store that is away is one, though the platform takes the upserts', async () => {
    const { write, send, breaker } = await world([
      { operation: 'upload', kind: 'status', status: 503, times: 6 },
    ]);
    const seen: string[] = [];
    for (const name of ['a', 'b']) write(name, 'abc');
    const onAttempt = (): void => void seen.push(breaker.state);
    const sent = await Promise.all(['a', 'b'].map((name) => send(name, { ports: { onAttempt } })));
    expect(sent.map(({ kind }) => kind)).toEqual(['sent', 'sent']);
    expect(seen.filter((state) => state === 'half-open').length).toBeGreaterThanOrEqual(4);
  });

  test('429 makes none: that is a matter of pace', async () => {
    const { write, send, breaker } = await world([failing(2, { status: 429 })]);
    write('a', 'abc');
    const states: string[] = [];
    const onAttempt = (): void => void states.push(breaker.state);
    expect((await send('a', { ports: { onAttempt } })).kind).toBe('sent');
    expect(states).toEqual(['closed', 'closed', 'closed']);
  });

  test('one file that fails while others pass makes none, and is given up', async () => {
    const { write, send, breaker, emulator } = await world([away(Infinity, { key: 'bad' })]);
    write('bad', 'x');
    write('good', 'abc');
    const [bad, good] = await Promise.all([send('bad'), send('good')]);
    expect([bad.kind, good.kind]).toEqual(['failed', 'sent']);
    expect(breaker.state).toBe('closed');
    // One of them may have shown only afterwards that it was the file's own.
    expect(emulator.counts.get('upsert')).toBeLessThanOrEqual(1 + ATTEMPTS + 1);
  });
});
