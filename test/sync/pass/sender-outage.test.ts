import { describe, expect, test } from 'vitest';
import { ATTEMPTS, GIVE_UP_MS, away, failing, world } from './sender-world.ts';

describe('during an outage', () => {
  test('attempts are not counted against a file: it is sent when the platform is back', async () => {
    const { write, send, emulator, breaker, clock, retries } = await world([away(7)]);
    write('a', 'abc');
    expect((await send('a')).kind).toBe('sent');
    expect(breaker.state).toBe('closed');
    expect(emulator.counts.get('upsert')).toBe(8);
    expect(Math.round(clock.monotonic() / 1000)).toBe(1 + 2 + 4 + 5 + 5 + 5 + 5);
    expect(retries.map(([, delayMs]) => Math.round(delayMs / 1000))).toEqual([1, 2, 4, 5, 5, 5, 5]);
  });

  test('few requests are made: one probe at a time, not one a file', async () => {
    const { write, send, emulator, breaker } = await world([away(Infinity)]);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    for (const name of names) write(name, 'abc');
    const results = await Promise.all(names.map((name) => send(name, { ports: { longestPauseMs: 1e9 } })));
    expect(results.map(({ kind }) => kind)).toEqual(names.map(() => 'failed'));
    expect(breaker.isHopeless).toBe(true);
    // Ten were under way when it was noticed; probes after 1, 2, 4, 5, 5 … s and at the end.
    expect(emulator.counts.get('upsert')).toBe(10 + 26);
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
