import { describe, expect, test } from 'vitest';
import { Outage, type Verdict } from '../../src/upload/outage.ts';
import { NEVER, SimulatedClock, sleepless } from '../platform/fixture.ts';

const BAD: Verdict = { met: 'failure' };
const GOOD: Verdict = { met: 'answer' };
const GIVE_UP_MS = 120_000;

function make(random = 0.5): { clock: SimulatedClock; outage: Outage } {
  const clock = new SimulatedClock();
  return { clock, outage: new Outage(clock, () => random, GIVE_UP_MS) };
}

async function run(outage: Outage, results: readonly (typeof BAD)[]): Promise<void> {
  for (const result of results) await outage.attempt(() => Promise.resolve(result), NEVER);
}

const TEN_BAD = Array.from({ length: 10 }, () => BAD);

describe('an outage', () => {
  test('is no matter of nine failures, but of ten in a row', async () => {
    const { clock, outage } = make();
    await run(outage, TEN_BAD.slice(1));
    expect(outage.isOn).toBe(false);
    await run(outage, [GOOD, ...TEN_BAD.slice(1)]);
    expect(outage.isOn).toBe(false);
    await run(outage, [BAD]);
    expect(outage.isOn).toBe(true);
    expect(clock.slept).toEqual([]);
  });

  test('ends with the first success, and then nobody waits', async () => {
    const { clock, outage } = make();
    await run(outage, [...TEN_BAD, BAD, BAD, GOOD]);
    expect(outage.isOn).toBe(false);
    expect(clock.slept).toEqual([250, 500, 1000]);
    clock.slept.length = 0;
    await run(outage, [GOOD, BAD, GOOD]);
    expect(clock.slept).toEqual([]);
  });

  test('of its own is waited for from the shortest delay again', async () => {
    const { clock, outage } = make();
    await run(outage, [...TEN_BAD, BAD, BAD, GOOD]);
    clock.advance(GIVE_UP_MS);
    clock.slept.length = 0;
    await run(outage, [...TEN_BAD, BAD, GOOD]);
    expect(clock.slept).toEqual([250, 500]);
  });

  test('ends as well with an answer to an attempt that was begun before it', async () => {
    const { outage } = make();
    let answer: (result: typeof BAD) => void = () => undefined;
    const early = outage.attempt(
      () =>
        new Promise<typeof BAD>((resolve) => {
          answer = resolve;
        }),
      NEVER,
    );
    await run(outage, TEN_BAD);
    expect(outage.isOn).toBe(true);
    answer(GOOD);
    await early;
    expect(outage.isOn).toBe(false);
  });

  test('lets one probe at a time through, whoever asks', async () => {
    const { clock, outage } = make();
    await run(outage, TEN_BAD);
    let atOnce = 0;
    let most = 0;
    let made = 0;
    const results = await Promise.all(
      Array.from({ length: 8 }, () =>
        outage.attempt(async () => {
          made += 1;
          atOnce += 1;
          most = Math.max(most, outage.isOn ? atOnce : 1);
          await clock.sleep(100, NEVER);
          atOnce -= 1;
          return made < 5 ? BAD : GOOD;
        }, NEVER),
      ),
    );
    expect(most).toBe(1);
    expect(results).toHaveLength(8);
    expect(made).toBe(8);
    expect(outage.isOn).toBe(false);
  });

  test('goes on with the next probe when one throws', async () => {
    const { outage } = make();
    await run(outage, TEN_BAD);
    await expect(outage.attempt(() => Promise.reject(new Error('a bug')), NEVER)).rejects.toThrow('a bug');
    expect(await outage.attempt(() => Promise.resolve(GOOD), NEVER)).toBe(GOOD);
  });

  test('is probed ever more rarely, at random', async () => {
    const { clock, outage } = make(0.999);
    await run(outage, TEN_BAD);
    for (let i = 0; i < 9; i += 1) await run(outage, [BAD]);
    const shares = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    expect(clock.slept.slice(0, 8)).toEqual(shares.map((ms) => ms * 0.999));
  });

  test('is hopeless after its time, with a last probe just then', async () => {
    const { clock, outage } = make(0.999);
    clock.advance(5000);
    await run(outage, TEN_BAD);
    const beganMs = clock.monotonic();
    let probes = 0;
    const probe = (): Promise<typeof BAD> => {
      probes += 1;
      return Promise.resolve(BAD);
    };
    while ((await outage.attempt(probe, NEVER)) !== null) expect(outage.isOn).toBe(true);
    expect(clock.monotonic() - beganMs).toBe(GIVE_UP_MS);
    expect(outage.isHopeless).toBe(true);
    const probesMade = probes;
    expect(await outage.attempt(probe, NEVER)).toBeNull();
    expect(probes).toBe(probesMade);
  });

  test('releases all who wait once it is hopeless', async () => {
    const { outage } = make(0.999);
    await run(outage, TEN_BAD);
    const worker = async (): Promise<number> => {
      let made = 0;
      while ((await outage.attempt(() => Promise.resolve(BAD), NEVER)) !== null) made += 1;
      return made;
    };
    const made = await Promise.all(Array.from({ length: 8 }, worker));
    expect(made.reduce((sum, count) => sum + count)).toBeLessThan(20);
  });

  test('may end with a probe after all, however late', async () => {
    const { clock, outage } = make();
    await run(outage, TEN_BAD);
    clock.advance(GIVE_UP_MS - 1);
    expect(outage.isHopeless).toBe(false);
    await run(outage, [GOOD]);
    expect(outage.isOn).toBe(false);
    expect(outage.isHopeless).toBe(false);
  });
});

describe('an abort', () => {
  test('before an attempt means that it is not made', async () => {
    const { outage } = make();
    const made: number[] = [];
    const attempt = (signal: AbortSignal): Promise<typeof BAD | null> =>
      outage.attempt(() => {
        made.push(1);
        return Promise.resolve(GOOD);
      }, signal);
    expect(await attempt(AbortSignal.abort())).toBeNull();
    await run(outage, TEN_BAD);
    expect(await attempt(AbortSignal.abort())).toBeNull();
    expect(made).toEqual([]);
  });

  test('while a probe waits, and while others wait for it, ends the waiting without an attempt', async () => {
    const { clock } = make();
    const outage = new Outage(sleepless(clock), () => 0.5, GIVE_UP_MS);
    await run(outage, TEN_BAD);
    const abort = new AbortController();
    let made = 0;
    const waiting = Array.from({ length: 4 }, () =>
      outage.attempt(() => {
        made += 1;
        return Promise.resolve(GOOD);
      }, abort.signal),
    );
    abort.abort();
    expect(await Promise.all(waiting)).toEqual([null, null, null, null]);
    expect(made).toBe(0);
  });
});
