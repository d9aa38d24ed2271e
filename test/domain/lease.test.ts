import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beatMs, beginWithinMs, finishWithinMs, Lease, momentOf } from '../../src/domain/lease.ts';
import { SEED } from '../seed.ts';
import { ManualClock } from '../manual-clock.ts';

const LEASE_MS = 10_000;
const NEVER = new AbortController().signal;

function leased(): { clock: ManualClock; lease: Lease } {
  const clock = new ManualClock();
  return { clock, lease: new Lease(LEASE_MS, clock, momentOf(clock)) };
}

describe('a lease', () => {
  test('lets things begin for a third of it, and end until shortly before its end', async () => {
    const { clock, lease } = leased();
    const may = (): [boolean, boolean] => [lease.mayBegin(), lease.mayFinish()];
    expect(may()).toEqual([true, true]);
    await clock.advance(3333);
    expect(may()).toEqual([true, true]);
    await clock.advance(1);
    expect(may()).toEqual([false, true]);
    expect(lease.remainingMs).toBe(9000 - 3334);
    await clock.advance(9000 - 3334 - 1);
    expect(may()).toEqual([false, true]);
    await clock.advance(1);
    expect(may()).toEqual([false, false]);
    expect(lease.remainingMs).toBe(0);
  });

  test('counts from when a proof was sent, not from its answer, and never from an earlier one', async () => {
    const { clock, lease } = leased();
    await clock.advance(1000);
    const sentAt = momentOf(clock);
    await clock.advance(2000);
    const sentLater = momentOf(clock);
    lease.prove(sentLater);
    lease.prove(sentAt);
    expect(lease.remainingMs).toBe(9000);
    await clock.advance(3000);
    expect(lease.mayBegin()).toBe(true);
  });

  test('knows of a sleep of the machine, in which the monotonic clock stands still', () => {
    const { clock, lease } = leased();
    clock.jumpWallClock(9000);
    expect([lease.mayBegin(), lease.mayFinish()]).toEqual([false, false]);
    lease.prove(momentOf(clock));
    expect(lease.mayBegin()).toBe(true);
  });

  test('is no longer for a wall clock that was set back', async () => {
    const { clock, lease } = leased();
    clock.jumpWallClock(-3_600_000);
    await clock.advance(9000);
    expect([lease.mayBegin(), lease.mayFinish()]).toEqual([false, false]);
  });

  test('that was ended is over whatever proves it', () => {
    const { clock, lease } = leased();
    lease.end();
    lease.prove(momentOf(clock));
    expect([lease.mayBegin(), lease.mayFinish(), lease.remainingMs, lease.isOver]).toEqual([
      false,
      false,
      0,
      true,
    ]);
  });

  test('has those wait who may begin nothing, until it is proven, ended, or they give up', async () => {
    const { clock, lease } = leased();
    await lease.proven(NEVER);
    const told: string[] = [];
    const wait = (name: string, signal = NEVER): Promise<void> =>
      lease.proven(signal).then(() => void told.push(name));
    await clock.advance(4000);
    const giveUp = new AbortController();
    const [one, two] = [wait('one'), wait('two', giveUp.signal)];
    await clock.advance(100);
    expect(told).toEqual([]);
    giveUp.abort();
    await two;
    expect(told).toEqual(['two']);
    lease.prove(momentOf(clock));
    await one;
    await clock.advance(4000);
    const three = wait('three');
    lease.end();
    await three;
    expect(told).toEqual(['two', 'one', 'three']);
  });

  test.each([3000, 10_000, 300_000])(
    'of %i ms begins and ends nothing another host could meet',
    (leaseMs) => {
      expect(beatMs(leaseMs)).toBeLessThan(beginWithinMs(leaseMs));
      expect(beginWithinMs(leaseMs)).toBeLessThan(finishWithinMs(leaseMs));
      expect(finishWithinMs(leaseMs)).toBeLessThanOrEqual(leaseMs - 600);
    },
  );

  test('is over for its holder before anybody who waits for its end may take it', async () => {
    // Whoever takes it saw the last proof after it was sent, and waits for the whole lease from there.
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 3000, max: 300_000 }),
        fc.array(fc.record({ afterMs: fc.nat(4000), answerMs: fc.nat(4000) }), { maxLength: 12 }),
        async (leaseMs, proofs) => {
          const clock = new ManualClock();
          let lastSentMs = clock.monotonic();
          const lease = new Lease(leaseMs, clock, momentOf(clock));
          for (const { afterMs, answerMs } of proofs) {
            await clock.advance(afterMs);
            const sentAt = momentOf(clock);
            await clock.advance(answerMs);
            if (lease.mayFinish()) {
              lease.prove(sentAt);
              lastSentMs = sentAt.monotonicMs;
            }
          }
          const takenMs = Math.max(clock.monotonic(), lastSentMs + leaseMs);
          await clock.advance(takenMs - clock.monotonic());
          expect(lease.mayFinish()).toBe(false);
        },
      ),
      { seed: SEED, numRuns: 50 },
    );
  });
});
