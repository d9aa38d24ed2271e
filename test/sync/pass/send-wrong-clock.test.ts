import { describe, expect, test } from 'vitest';
import { START } from '../../platform/fixture.ts';
import { BOT, DAY_MS, operations, resolved, stateOf, world } from './send-world.ts';

describe('an expiry under a wrong clock', () => {
  const inAnHour = resolved({ expires: { kind: 'in', lifetimeMs: 3_600_000 } });
  const in90Days = resolved({ expires: { kind: 'in', lifetimeMs: 90 * DAY_MS } });
  const minute = (ms: number): number => Math.floor(ms / 60_000) * 60_000;

  test.each([
    ['a day behind', -DAY_MS, inAnHour, minute(START + 3_600_000)],
    ['a day ahead', DAY_MS, in90Days, minute(START + 90 * DAY_MS - 60_000)],
  ])('%s is sent once more, by the time of the platform', async (_, offsetMs, settings, expiresAtMs) => {
    const { write, send, emulator } = await world({}, offsetMs);
    write('a.txt', 'abc');
    expect(await send({ resolved: settings })).toMatchObject({ kind: 'sent', expiresAtMs });
    expect(operations(emulator)).toEqual(['upsert', 'upsert', 'upload']);
    expect(emulator.listFiles(BOT)[0]?.expiresAt).toBe(new Date(expiresAtMs).toISOString());
    // From now on the time is known.
    expect(await send({ resolved: settings })).toMatchObject({ kind: 'sent', expiresAtMs });
    expect(operations(emulator)).toEqual(['upsert', 'upsert', 'upload', 'upsert', 'upload']);
  });

  test('is refused for good when there is no such expiry by the time of the platform', async () => {
    const { write, send, emulator } = await world({}, -DAY_MS);
    const path = write('a.txt', 'abc');
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
    const { write, send, emulator } = await world({}, offsetMs);
    write('a.txt', 'abc');
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, times: 2 });
    expect(await send({ resolved: settings })).toMatchObject({
      failure: { kind: 'refused' },
      upserted: false,
    });
    expect(operations(emulator)).toEqual(['upsert']);
  });

  test('does not send again what failed otherwise, and the second answer counts', async () => {
    const { write, send, emulator } = await world({}, -DAY_MS);
    write('a.txt', 'abc');
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 500 });
    expect(await send({ resolved: inAnHour })).toMatchObject({
      failure: { kind: 'transient' },
      upserted: true,
    });
    expect(operations(emulator)).toEqual(['upsert']);

    const again = await world({}, -DAY_MS);
    again.write('a.txt', 'abc');
    again.emulator.faults.add({ operation: 'upsert', kind: 'apply-then-drop', after: 1 });
    expect(await again.send({ resolved: inAnHour })).toMatchObject({
      failure: { kind: 'transient' },
      upserted: true,
    });
    expect(operations(again.emulator)).toEqual(['upsert', 'upsert']);
  });
});
