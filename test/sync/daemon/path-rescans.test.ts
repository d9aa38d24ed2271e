import { expect, test } from 'vitest';
import { PathRescans } from '../../../src/sync/daemon/path-rescans.ts';
import { SimulatedClock } from '../../platform/fixture.ts';

test.each(['want', 'wantInTime'] as const)(
  '%s: ten thousand paths wait, each once; with one more none does, and everything is to be looked at',
  (want) => {
    let tooMany = 0;
    const looks = new PathRescans(
      new SimulatedClock(),
      () => undefined,
      () => (tooMany += 1),
    );
    for (let i = 0; i < 10_000; i++) looks[want]('docs', `f${i}`);
    looks[want]('docs', 'f0');
    expect([looks.waiting, tooMany]).toEqual([10_000, 0]);
    looks[want]('other', 'f0');
    expect([looks.waiting, tooMany]).toEqual([0, 1]);
    looks[want]('docs', 'f1');
    expect([looks.waiting, tooMany]).toEqual([1, 1]);
  },
);

test.each(['want', 'wantInTime'] as const)(
  '%s: what is not remembered waits until a pass begins',
  async (want) => {
    const clock = new SimulatedClock();
    const looks = new PathRescans(
      clock,
      () => undefined,
      () => undefined,
    );
    const beganMs = clock.now();
    looks[want]('other', 'f0');
    await clock.sleep(1000, new AbortController().signal);
    for (let i = 0; i < 10_000; i++) looks[want]('docs', `f${i}`);
    expect(looks.waiting).toBe(0);
    expect([looks.oldest('other'), looks.oldest('docs')]).toEqual([beganMs, beganMs + 1000]);
    looks.passBegins();
    expect([looks.oldest('other'), looks.oldest('docs')]).toEqual([null, null]);
  },
);
