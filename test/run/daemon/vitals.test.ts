import { describe, expect, test } from 'vitest';
import type { ByteRate } from '../../../src/domain/byte-rate.ts';
import type { Activity } from '../../../src/domain/status.ts';
import { DaemonVitals } from '../../../src/run/daemon/watchdog.ts';

const MINUTE = 60_000;

/** No transfer is waited for so long: 21 times the stall timeout. */
const LIMIT = 10.5 * MINUTE;

/** How often the watchdog asks, milliseconds. */
const ASKED_EVERY_MS = 2000;

type Paused = NonNullable<Activity['pause']>;

function create(upload: { maxBytesPerSecond?: ByteRate } = {}) {
  let nowMs = 0;
  const world = {
    pausedForMs: 0,
    activity: { platformOutOfReach: false, blocked: null as string | null, pause: null as Paused | null },
  };
  const vitals = new DaemonVitals({
    monotonic: () => nowMs,
    pausedForMs: () => world.pausedForMs,
    activity: () => world.activity,
    uploadSettings: () => ({ stallTimeoutMs: 30_000, maxBytesPerSecond: null, ...upload }),
  });
  /** What stands still after so long, in which something may happen each time it is asked. */
  const after = (ms: number, meanwhile: () => void = () => undefined): readonly string[] => {
    let still = vitals.standingStill;
    for (const untilMs = nowMs + ms; nowMs < untilMs;) {
      nowMs += ASKED_EVERY_MS;
      meanwhile();
      still = vitals.standingStill;
    }
    return still;
  };
  return { world, vitals, after };
}

describe('a pause by a command', () => {
  const pause: Paused = { since: '2026-01-01T00:00:00.000Z', until: null };

  test('is why nothing is sent, and excuses no file that does not move', () => {
    const { world, vitals, after } = create();
    world.activity = { platformOutOfReach: false, blocked: null, pause };
    expect(vitals.pausedBy).toBe('command');
    expect(after(60 * MINUTE)).toEqual([]);
    vitals.stages.file.begin();
    expect(after(LIMIT)).toEqual(['file']);
  });
});

describe('a file in hand', () => {
  test('that does not move for longer than any transfer is waited for stands still', () => {
    const { vitals, after } = create();
    vitals.stages.file.begin();
    expect(after(LIMIT - ASKED_EVERY_MS)).toEqual([]);
    expect(after(ASKED_EVERY_MS)).toEqual(['file']);
    vitals.stages.file.end();
    expect(vitals.standingStill).toEqual([]);
  });

  test('moves with every piece of its content, however long it takes', () => {
    const { vitals, after } = create();
    vitals.stages.file.begin();
    vitals.transfers.begin();
    expect(after(5 * 60 * MINUTE, vitals.transfers.progress)).toEqual([]);
    expect(after(LIMIT)).toEqual(['transfer', 'file']);
  });

  test.each([
    ['the platform asked for a pause', 'asked', { pausedForMs: 1 }],
    [
      'the platform is unreachable',
      'outage',
      { activity: { platformOutOfReach: true, blocked: null, pause: null } },
    ],
  ] as const)('may stand still while %s', (_why, reason, state) => {
    const { world, vitals, after } = create();
    vitals.stages.file.begin();
    vitals.transfers.begin();
    Object.assign(world, state);
    expect(vitals.pausedBy).toBe(reason);
    expect(after(60 * MINUTE)).toEqual([]);
    Object.assign(world, {
      pausedForMs: 0,
      activity: { platformOutOfReach: false, blocked: null, pause: null },
    });
    expect(vitals.pausedBy).toBeNull();
    expect(after(LIMIT)).toEqual(['transfer', 'file']);
  });

  test('has no excuse in what is refused: that is not in hand', () => {
    const { world, vitals, after } = create();
    vitals.stages.file.begin();
    world.activity = { platformOutOfReach: false, blocked: 'no room', pause: null };
    expect(vitals.pausedBy).toBe('blockade');
    expect(after(LIMIT)).toEqual(['file']);
  });

  test.each<[string, ByteRate]>([
    ['our own speed limit', 2000],
    [
      'the lowest of our own speed limits',
      [
        { fromMinute: 0, untilMinute: 60, bytesPerSecond: 2000 },
        { fromMinute: 60, untilMinute: 120, bytesPerSecond: 9000 },
      ],
    ],
  ])('is given the time that %s takes', (_what, maxBytesPerSecond) => {
    const { vitals, after } = create({ maxBytesPerSecond });
    vitals.stages.file.begin();
    expect(after(24 * MINUTE)).toEqual([]);
    expect(after(MINUTE)).toEqual(['file']);
  });
});

test('nothing under way is no standstill', () => {
  const { after } = create();
  expect(after(60 * MINUTE)).toEqual([]);
});
