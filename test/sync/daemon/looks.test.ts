import { expect, test } from 'vitest';
import { Looks } from '../../../src/sync/daemon/looks.ts';
import { SimulatedClock } from '../../platform/fixture.ts';

test.each(['want', 'wantInTime'] as const)(
  '%s: ten thousand paths wait, each once; with one more none does, and everything is to be looked at',
  (want) => {
    let tooMany = 0;
    const looks = new Looks(
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
