import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/emulator/faults.ts';
import { sleepless } from '../../platform/fixture.ts';
import { whenUpserted } from '../../when-upserted.ts';
import { ATTEMPTS, failing, world } from './sender-world.ts';

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
