import { describe, expect, test } from 'vitest';
import { start } from '../emulator/fixture.ts';
import {
  answerJson,
  connect,
  failureIn,
  NEVER,
  serve,
  SimulatedClock,
  sleepless,
  START,
  upsertBody,
  valueOf,
} from './fixture.ts';
import { BOT, connectTo, whole } from './files-fixture.ts';

describe("what answers say of the platform's pace and time", () => {
  test.each([
    [429, 7000],
    [503, 7000],
    [500, 0],
    [409, 0],
  ])('%d with Retry-After holds everybody back for %d ms', async (status, waitMs) => {
    const clock = new SimulatedClock();
    const { emulator } = await start();
    const { platform, pacer } = connectTo(emulator, { clock });
    emulator.faults.add({ operation: 'upsert', kind: 'status', status, headers: { 'Retry-After': '7' } });
    const failure = failureIn(await platform.upsert(BOT, upsertBody('a', 1), NEVER));
    expect(failure).toMatchObject({ kind: 'transient', retryAfterMs: 7000 });
    await pacer.turn('store', NEVER);
    expect(clock.monotonic()).toBe(waitMs);
  });

  test.each([
    ['upsert', 429, { 'Retry-After': '7' }, 7000],
    ['upsert', 503, { 'Retry-After': '7' }, 7000],
    ['upsert', 429, {}, 0],
    ['upsert', 503, {}, 0],
    ['upload', 429, { 'Retry-After': '7' }, 0],
  ] as const)(
    '%s refused with %d and %j asks all hosts of a cluster to wait for %d ms',
    async (operation, status, headers, askedMs) => {
      const clock = new SimulatedClock();
      const { emulator } = await start();
      const { platform, pacer } = connectTo(emulator, { clock });
      emulator.faults.add({ operation, kind: 'status', status, headers });
      const upserted = await platform.upsert(BOT, upsertBody('a', 3), NEVER);
      if (upserted.kind === 'ok') await platform.upload(upserted.value, whole('abc'), false, NEVER);
      expect(pacer.askedForMs).toBe(askedMs);
      clock.advance(askedMs);
      expect(pacer.askedForMs).toBe(0);
    },
  );

  test('a window that is used up is waited for: the limit is never hit', async () => {
    const clock = new SimulatedClock();
    const { emulator } = await start({ rateLimit: { requests: 40, windowMs: 10_000 }, now: clock.now });
    const { platform } = connectTo(emulator, { clock });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        const kinds: string[] = [];
        for (let i = 0; i < 20; i += 1)
          kinds.push((await platform.upsert(BOT, upsertBody(`${worker}/${i}`, 1), NEVER)).kind);
        return kinds;
      }),
    );
    expect(new Set(outcomes.flat())).toEqual(new Set(['ok']));
    // Four windows, of which the last is not waited for.
    expect(clock.monotonic()).toBeGreaterThanOrEqual(30_000);
    expect(clock.monotonic()).toBeLessThan(80_000);
  });

  test('during a pause nothing is sent, be it an upsert or an upload', async () => {
    const paths: unknown[] = [];
    const server = await serve((request, response) => {
      paths.push(request.url);
      answerJson(response, 200, { file: { uploadUrl: `${server.url}/up`, contentType: 'a/b' } });
    });
    const file = { uploadUrl: new URL(`${server.url}/up`), contentType: 'a/b' };
    const paused = connect(server.url, { clock: sleepless(new SimulatedClock()) });
    const other = connect(server.url);
    // Both have a connection by now.
    for (const { platform } of [paused, other])
      valueOf(await platform.upload(file, whole('abc'), false, NEVER));
    paused.pacer.pause(7000);
    const abort = new AbortController();
    const waiting = [
      paused.platform.upsert(BOT, upsertBody('a', 3), abort.signal),
      paused.platform.upload(file, whole('abc'), false, abort.signal),
    ];
    // Ten requests one after the other are slower than one that does not wait.
    for (let i = 0; i < 10; i += 1) valueOf(await other.platform.upload(file, whole('abc'), false, NEVER));
    expect(paths).toHaveLength(12);
    abort.abort();
    const failure = { kind: 'transient', message: 'interrupted', notCarriedOut: true };
    for (const outcome of await Promise.all(waiting)) expect(failureIn(outcome)).toEqual(failure);
    expect(paths).toHaveLength(12);
  });

  test('a date in Retry-After is counted by the clock that wrote it', async () => {
    const clock = new SimulatedClock();
    clock.wallOffsetMs = -86_400_000;
    const { emulator } = await start({ now: () => START });
    const { platform, pacer } = connectTo(emulator, { clock });
    const headers = { 'Retry-After': new Date(START + 30_000).toUTCString() };
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 503, headers });
    emulator.faults.add({ operation: 'upload', kind: 'status', status: 500, headers });
    const failure = failureIn(await platform.upsert(BOT, upsertBody('a', 1), NEVER));
    expect(failure).toMatchObject({ retryAfterMs: 29_500 });
    await pacer.turn('store', NEVER);
    expect(clock.monotonic()).toBe(29_500);
  });

  test('the time is that of the platform as soon as it answered, also with a refusal', async () => {
    const clock = new SimulatedClock();
    clock.wallOffsetMs = -86_400_000;
    const { emulator } = await start({ now: () => START });
    const { platform } = connectTo(emulator, { clock, token: 'wrong' });
    expect(platform.now()).toBe(START - 86_400_000);
    await platform.upsert(BOT, upsertBody('a', 1), NEVER);
    expect(platform.now()).toBe(START);
  });
});
