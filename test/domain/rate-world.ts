import { RequestRate, type RateLimitReport } from '../../src/domain/request-rate.ts';

/** A platform that counts requests, and clients that go at the rate they find. Time is simulated, milliseconds. */
export interface RateWorld {
  /** Requests a second, in a sliding window of a second. */
  readonly limit: number;
  /** Whether answers carry the state of the limit. */
  readonly tells: boolean;
  /** What a refusal asks to wait for; `null`: it does not say. */
  readonly retryAfterMs: number | null;
  /** From a request to its answer. */
  readonly roundTripMs: number;
  readonly clients: readonly { readonly fromMs: number; readonly workers: number }[];
  /** Somebody who takes requests evenly and pays no attention. */
  readonly rival: { readonly perSecond: number; readonly fromMs: number; readonly untilMs: number } | null;
  readonly seed: number;
}

/** What became of one client. */
export interface ClientRun {
  /** When each request that was carried out was answered. */
  readonly answeredMs: readonly number[];
  readonly limited: number;
}

/** Lets the clients send as much as they may for some time. */
export function runClients(world: RateWorld, untilMs: number): ClientRun[] {
  const events: { atMs: number; run: () => void }[] = [];
  const random = randomFrom(world.seed);
  let nowMs = 0;
  const at = (atMs: number, run: () => void): void => {
    const later = events.findIndex((other) => other.atMs > atMs);
    events.splice(later === -1 ? events.length : later, 0, { atMs, run });
  };
  let counted: number[] = [];
  const admit = (): { isAdmitted: boolean; report: RateLimitReport | null } => {
    counted = counted.filter((time) => time > nowMs - 1000);
    const isAdmitted = counted.length < world.limit;
    if (isAdmitted) counted.push(nowMs);
    const remaining = world.limit - counted.length;
    const report = { limit: world.limit, remaining, resetMs: 1000, windowMs: null };
    return { isAdmitted, report: world.tells ? report : null };
  };
  const { rival } = world;
  if (rival !== null)
    for (let time = rival.fromMs; time < rival.untilMs; time += 1000 / rival.perSecond) at(time, admit);

  const runs = world.clients.map(({ fromMs, workers }) => {
    const run = { answeredMs: [] as number[], limited: 0 };
    const rate = new RequestRate();
    const queue: (() => void)[] = [];
    let pausedUntilMs = 0;
    let pumpings = 0;
    const pump = (): void => {
      for (let first = queue[0]; first !== undefined; first = queue[0]) {
        const dueMs = Math.max(rate.nextAtMs(nowMs), pausedUntilMs);
        if (dueMs > nowMs + 0.01) {
          const own = ++pumpings;
          // Timers are late by up to a millisecond.
          at(dueMs + random(), () => {
            if (own === pumpings) pump();
          });
          return;
        }
        queue.shift();
        rate.released(nowMs);
        first();
      }
    };
    const request = (): void => {
      queue.push(() => {
        const releasedAtMs = nowMs;
        const halfMs = (world.roundTripMs / 2) * (0.8 + 0.4 * random());
        at(nowMs + halfMs, () => {
          const { isAdmitted, report } = admit();
          at(nowMs + halfMs, () => {
            const restMs = rate.answered({ releasedAtMs, wasLimited: !isAdmitted, report }, nowMs);
            if (restMs > 0) pausedUntilMs = Math.max(pausedUntilMs, nowMs + restMs);
            if (isAdmitted) run.answeredMs.push(nowMs);
            else {
              run.limited += 1;
              pausedUntilMs = Math.max(pausedUntilMs, nowMs + (world.retryAfterMs ?? 0));
            }
            // The content of the file, or the wait before another attempt.
            at(
              nowMs + (isAdmitted ? world.roundTripMs : (world.retryAfterMs ?? 0) + 500 * random()),
              request,
            );
            pump();
          });
        });
      });
      pump();
    };
    at(fromMs, () => {
      for (let worker = 0; worker < workers; worker++) request();
    });
    return run;
  });
  for (let next = events.shift(); next !== undefined && next.atMs <= untilMs; next = events.shift()) {
    nowMs = next.atMs;
    next.run();
  }
  return runs;
}

/** Requests a second that were carried out in a time. */
export function rateIn({ answeredMs }: ClientRun, fromMs: number, untilMs: number): number {
  const count = answeredMs.filter((time) => time >= fromMs && time < untilMs).length;
  return (count * 1000) / (untilMs - fromMs);
}

/** A generator of numbers in [0, 1), the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
