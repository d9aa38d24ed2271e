import type { FileKey } from '../../../src/domain/key.ts';
import type { Fault } from '../../../src/emulator/faults.ts';
import { sendWithRetries, type SenderPorts, type Sent } from '../../../src/sync/pass/send-file.ts';
import { CircuitBreaker } from '../../../src/sync/pass/circuit-breaker.ts';
import { NEVER } from '../../platform/fixture.ts';
import { at } from '../../files/source-fixture.ts';
import { BOT, resolved, world as makeWorld, type World } from './send-world.ts';

/** How often a file is sent before it is given up. */
export const ATTEMPTS = 4;
/** How long an outage may last, milliseconds. */
export const GIVE_UP_MS = 120_000;

/** A source, a platform and what sends files of one to the other. */
export interface SenderWorld extends Omit<World, 'send'> {
  readonly breaker: CircuitBreaker;
  /** Reasons and delays of the retries. */
  readonly retries: (readonly [string, number])[];
  readonly send: (path: string, options?: Options) => Promise<Sent>;
}

/** How a file is sent other than usual. */
interface Options {
  readonly ports?: Partial<SenderPorts>;
  readonly stop?: AbortSignal;
  readonly abort?: AbortSignal;
}

/** Makes one whose platform has faults. `random`: the jitter of delays, from 0 to 1. */
export async function world(
  faults: readonly Fault[] = [],
  random: () => number = () => 0.5,
): Promise<SenderWorld> {
  const made = await makeWorld();
  const { clock, platform } = made;
  for (const fault of faults) made.emulator.faults.add(fault);
  const breaker = new CircuitBreaker(clock, () => 0.999_999, {
    longestOutageMs: GIVE_UP_MS,
    parkAfterMs: Infinity,
    opened: () => undefined,
    closed: () => undefined,
  });
  const retries: (readonly [string, number])[] = [];
  return {
    ...made,
    breaker,
    retries,
    send: (path, { ports = {}, stop = NEVER, abort = NEVER } = {}) =>
      sendWithRetries(
        {
          root: made.source,
          path: at(path),
          key: path as FileKey,
          botId: BOT,
          resolved: resolved(),
          markedAs: null,
        },
        {
          platform,
          limits: { indexBytes: 1e6, fileBytes: 1e6, indexableExtensions: [] },
          now: clock.now,
          transfer: (attempt) => attempt(),
          isBlocked: () => false,
          onAttempt: () => undefined,
          clock,
          random,
          breaker,
          name: path,
          isFresh: false,
          waitsForOutage: () => true,
          longestPauseMs: 120_000,
          attempts: ATTEMPTS,
          settleMs: 777,
          onRetry: (reason, delayMs) => retries.push([reason, delayMs]),
          ...ports,
        },
        stop,
        abort,
      ),
  };
}

/** What fails for this file alone. */
export function failing(times: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault {
  const type = 'ResourceLockedConflict';
  return { operation: 'upsert', kind: 'status', status: 409, type, message: 'no', times, ...more };
}

/** What may be the platform's trouble as a whole. */
export function away(times: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault {
  return { operation: 'upsert', kind: 'status', status: 503, times, ...more };
}
