import { describe, expect, test } from 'vitest';
import { RequestRate, type RateLimitReport } from '../../src/domain/request-rate.ts';
import { rateIn, runClients, type ClientRun, type RateWorld } from './rate-world.ts';

const WORLD: RateWorld = {
  limit: 100,
  tells: true,
  retryAfterMs: 1000,
  roundTripMs: 2,
  clients: [{ fromMs: 0, workers: 8 }],
  rival: null,
  seed: 7,
};

const SECOND = 1000;

/** The part of the requests that were refused. */
function limitedPart({ answeredMs, limited }: ClientRun): number {
  return limited / (answeredMs.length + limited);
}

describe.each([7, 8, 9, 10, 11])('where the platform tells what is left (seed %d)', (seed) => {
  test.each([
    ['near', 2, 8],
    ['80 ms away', 80, 32],
  ])('one client takes what there is: %s', (_, roundTripMs, workers) => {
    const [run] = runClients({ ...WORLD, seed, roundTripMs, clients: [{ fromMs: 0, workers }] }, 30 * SECOND);
    expect(rateIn(run as ClientRun, 0, 30 * SECOND)).toBeGreaterThanOrEqual(95);
    expect(run?.limited).toBe(0);
  });

  test.each([0, 10, 50, 300])('two that begin %d ms apart share it evenly', (apartMs) => {
    const clients = [
      { fromMs: 0, workers: 8 },
      { fromMs: apartMs, workers: 8 },
    ];
    const runs = runClients({ ...WORLD, seed, clients }, 30 * SECOND);
    const rates = runs.map((run) => rateIn(run, 0, 30 * SECOND));
    const sum = rates.reduce((total, rate) => total + rate);
    expect(sum).toBeGreaterThanOrEqual(94.5);
    for (const rate of rates) expect(rate / sum).toBeGreaterThanOrEqual(0.4);
    for (const run of runs) expect(limitedPart(run)).toBeLessThan(0.005);
  });

  test('one that comes later gets its half within 20 s', () => {
    const clients = [
      { fromMs: 0, workers: 8 },
      { fromMs: 3 * SECOND, workers: 8 },
    ];
    const runs = runClients({ ...WORLD, seed, clients }, 35 * SECOND);
    for (const run of runs) expect(rateIn(run, 23 * SECOND, 35 * SECOND)).toBeGreaterThanOrEqual(42);
  });

  test('beside somebody who takes half, the other half is used, and all of it two seconds after he is gone', () => {
    const rival = { perSecond: 50, fromMs: 0, untilMs: 20 * SECOND };
    const [run] = runClients({ ...WORLD, seed, rival }, 30 * SECOND);
    expect(rateIn(run as ClientRun, 0, 20 * SECOND)).toBeGreaterThanOrEqual(45);
    expect(rateIn(run as ClientRun, 22 * SECOND, 30 * SECOND)).toBeGreaterThanOrEqual(95);
    expect(limitedPart(run as ClientRun)).toBeLessThan(0.005);
  });

  test.each([
    ['at once', [0, 40, 90, 130], 0],
    ['one of them later', [0, 40, 90, 20 * SECOND], 40 * SECOND],
  ])('four hungry ones use nearly all, and none has less than half of its part: %s', (_, begins, fromMs) => {
    const clients = begins.map((beginMs) => ({ fromMs: beginMs, workers: 8 }));
    const runs = runClients({ ...WORLD, seed, clients }, 60 * SECOND);
    const rates = runs.map((run) => rateIn(run, fromMs, 60 * SECOND));
    const sum = rates.reduce((total, rate) => total + rate, 0);
    expect(sum).toBeGreaterThanOrEqual(92);
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(sum / 8);
    for (const run of runs) expect(limitedPart(run)).toBeLessThan(0.005);
  });
});

describe.each([7, 8, 9])('where nothing is told (seed %d)', (seed) => {
  test.each([[1000], [null]])('the limit is found by few refusals (Retry-After: %s ms)', (retryAfterMs) => {
    const [run] = runClients({ ...WORLD, seed, tells: false, retryAfterMs }, 60 * SECOND);
    expect(rateIn(run as ClientRun, 0, 60 * SECOND)).toBeGreaterThanOrEqual(90);
    expect(limitedPart(run as ClientRun)).toBeLessThan(0.01);
  });

  test.each([[1000], [null]])('of four hungry ones none starves (Retry-After: %s ms)', (retryAfterMs) => {
    const clients = [0, 40, 90, 130].map((fromMs) => ({ fromMs, workers: 8 }));
    const runs = runClients({ ...WORLD, seed, tells: false, retryAfterMs, clients }, 60 * SECOND);
    const rates = runs.map((run) => rateIn(run, 0, 60 * SECOND));
    const sum = rates.reduce((total, rate) => total + rate, 0);
    expect(sum).toBeGreaterThanOrEqual(88);
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(sum / 8);
    const together = runs.map(limitedPart).map((part, n) => (part * (rates[n] ?? 0)) / sum);
    expect(together.reduce((total, part) => total + part, 0)).toBeLessThan(0.01);
  });

  test('what becomes free is found in the end', () => {
    const rival = { perSecond: 50, fromMs: 0, untilMs: 20 * SECOND };
    const [run] = runClients({ ...WORLD, seed, tells: false, rival }, 120 * SECOND);
    expect(rateIn(run as ClientRun, 90 * SECOND, 120 * SECOND)).toBeGreaterThanOrEqual(85);
    expect(limitedPart(run as ClientRun)).toBeLessThan(0.01);
  });

  test('nothing is paced before the first refusal', () => {
    const [run] = runClients({ ...WORLD, seed, tells: false, limit: 1_000_000 }, 2 * SECOND);
    // Eight workers, each with a round trip for the request and one for the content.
    expect(rateIn(run as ClientRun, SECOND, 2 * SECOND)).toBeGreaterThan(1500);
  });
});

/** One answer after another, by a client that sends one request at a time. */
class Client {
  readonly rate = new RequestRate();
  nowMs = 0;

  /** Releases a request when it may go, and gives the answer a millisecond later. Returns when it was released. */
  send(
    report: Partial<RateLimitReport> | null,
    wasLimited = false,
  ): { releasedAtMs: number; restMs: number } {
    this.nowMs = Math.max(this.nowMs, this.rate.nextAtMs(this.nowMs));
    const releasedAtMs = this.nowMs;
    this.rate.released(releasedAtMs);
    this.nowMs += 1;
    const whole =
      report === null ? null : { limit: null, remaining: 0, resetMs: null, windowMs: null, ...report };
    const restMs = this.rate.answered({ releasedAtMs, wasLimited, report: whole }, this.nowMs);
    return { releasedAtMs, restMs };
  }

  /** When each of so many further requests is released, with no answers. */
  release(count: number): number[] {
    return Array.from({ length: count }, () => {
      this.nowMs = Math.max(this.nowMs, this.rate.nextAtMs(this.nowMs));
      this.rate.released(this.nowMs);
      return this.nowMs;
    });
  }
}

describe('a long window', () => {
  test('is used at once while there is plenty', () => {
    const client = new Client();
    client.send({ limit: 1000, remaining: 999, resetMs: 60_000 });
    expect(client.release(100)).toEqual(Array.from({ length: 100 }, () => client.nowMs));
  });

  test('is spread over the time that is left when few are left', () => {
    const client = new Client();
    client.send({ limit: 100, remaining: 20, resetMs: 40_000 });
    expect(client.release(3)).toEqual([2000, 4000, 6000]);
  });

  test('makes nobody wait for longer than ten seconds', () => {
    const client = new Client();
    client.send({ limit: 100, remaining: 1, resetMs: 86_400_000 });
    expect(client.release(2)).toEqual([10_000, 20_000]);
  });

  test('that is used up is waited for; then one asks how the next one is', () => {
    const client = new Client();
    expect(client.send({ limit: 100, remaining: 0, resetMs: 5000 }).restMs).toBe(5000);
    client.nowMs += 5000;
    expect(client.release(2)).toEqual([5001, 5250]);
    client.send({ limit: 100, remaining: 98, resetMs: 60_000 });
    expect(client.release(5)).toEqual(Array.from({ length: 5 }, () => client.nowMs));
  });

  test('is known by its length where the platform tells that', () => {
    const client = new Client();
    client.send({ limit: 100, remaining: 99, resetMs: 500, windowMs: 60_000 });
    expect(client.release(50)).toEqual(Array.from({ length: 50 }, () => client.nowMs));
  });
});

describe('a short window', () => {
  test('is rested from for a moment when its last request is gone', () => {
    const client = new Client();
    expect(client.send({ limit: 100, remaining: 0, resetMs: 1000 }).restMs).toBe(50);
  });

  test('of a platform that does not tell its limit is learned from what was ever left', () => {
    const client = new Client();
    for (let i = 0; i < 600; i++) client.send({ remaining: 99 - Math.min(i, 49) });
    const [first = 0, second = 0] = client.release(2);
    expect(second - first).toBeLessThan(25);
  });
});

test('before the first answer requests go slowly, one after the other', () => {
  const client = new Client();
  expect(client.release(3)).toEqual([0, 50, 100]);
});

test('a timer that fires late is made up for, but not by a burst', () => {
  const client = new Client();
  client.send(null);
  client.send(null, true);
  const [first = 0] = client.release(1);
  client.nowMs = first + 10_000;
  const next = client.release(3);
  expect(next[2]).toBeGreaterThan(first + 10_000);
});

describe('the limit a minute', () => {
  test.each<[string, Partial<RateLimitReport> | null, boolean, number | null]>([
    ['unknown while nothing is told', null, false, null],
    ['told for a window of a second', { limit: 100, remaining: 99, windowMs: 1000 }, false, 6000],
    ['told without a window, which is a second then', { limit: 50, remaining: 49 }, false, 3000],
    ['told for a long window', { limit: 500, remaining: 400, windowMs: 60_000, resetMs: 20_000 }, false, 500],
    ['seen from what is left, where it is not told', { remaining: 99 }, false, 6000],
    ['unknown for a long window without a limit', { remaining: 99, resetMs: 60_000 }, false, null],
    ['found by being refused', null, true, 1200],
    ['no number that makes sense', { limit: 1e15, remaining: 99 }, false, null],
  ])('%s', (_, report, wasLimited, expected) => {
    const client = new Client();
    client.send(report, wasLimited);
    expect(client.rate.limitPerMinute).toBe(expected);
  });

  test('is the one that was told last', () => {
    const client = new Client();
    client.send({ limit: 100, remaining: 99, windowMs: 1000 });
    client.send({ limit: 10, remaining: 9, windowMs: 1000 });
    client.send(null);
    expect(client.rate.limitPerMinute).toBe(600);
  });
});
