import { describe, expect, test } from 'vitest';
import { Gate, type Urgency } from '../../src/platform/gate.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { NEVER, SimulatedClock } from './fixture.ts';

/** One pass a second. */
const INTERVAL_MS = 1000;

/** A gate through which one passes every second. */
function openGate(clock: SimulatedClock): Gate {
  let nextAtMs = -Infinity;
  const schedule = {
    nextAtMs: () => nextAtMs,
    released: (nowMs: number) => {
      nextAtMs = nowMs + INTERVAL_MS;
    },
  };
  return new Gate(schedule, clock);
}

/** What makes questions at most 3 % of what passes while files wait. */
const FILES_A_QUESTION = 33;

type Pass = (urgency: Urgency) => number | null | Promise<number | null>;

/** Has so many wait, all at once; gives who passed, in order: `f` for a file, `q` for a question. */
async function order(pass: Pass, waiting: readonly Urgency[]): Promise<string> {
  let passed = '';
  await Promise.all(
    waiting.map(async (urgency) => {
      await pass(urgency);
      passed += urgency.charAt(0);
    }),
  );
  return passed;
}

function times(count: number, urgency: Urgency): Urgency[] {
  return Array.from({ length: count }, () => urgency);
}

describe('at a gate', () => {
  test('a question that came first waits for many files, and then has its turn', async () => {
    const clock = new SimulatedClock();
    const gate = openGate(clock);
    void gate.pass(NEVER, 'question');
    const pass: Pass = (urgency) => gate.pass(NEVER, urgency);
    const files = 'f'.repeat(FILES_A_QUESTION);
    expect(await order(pass, ['question', 'question', ...times(2 * FILES_A_QUESTION + 1, 'file')])).toBe(
      `${files}q${files}qf`,
    );
  });

  test('what is no more than questions passes without a wait between', async () => {
    const clock = new SimulatedClock();
    const gate = openGate(clock);
    expect(await order((urgency) => gate.pass(NEVER, urgency), times(5, 'question'))).toBe('qqqqq');
    expect(clock.monotonic()).toBe(4 * INTERVAL_MS);
  });

  test('files go in the order they came, and so do questions', async () => {
    const gate = openGate(new SimulatedClock());
    const names: string[] = [];
    const waits = ['q1', 'f1', 'q2', 'f2', 'f3', 'q3', 'f4', 'f5', 'f6', 'f7'].map(async (name) => {
      await gate.pass(NEVER, name.startsWith('q') ? 'question' : 'file');
      names.push(name);
    });
    await Promise.all(waits);
    expect(names.filter((name) => name.startsWith('f'))).toEqual(['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7']);
    expect(names.filter((name) => name.startsWith('q'))).toEqual(['q1', 'q2', 'q3']);
  });

  test.each<[string, number, number]>([
    ['many questions', 200, 300],
    ['many files', 1500, 30],
    ['one of each kind', 1, 1],
  ])(
    'nothing starves where there are %s, and of what passes while files wait at most 3 % are questions',
    async (_, files, questions) => {
      const gate = openGate(new SimulatedClock());
      // Somebody is ahead, so that all wait.
      void gate.pass(NEVER, 'file');
      const passed = await order(
        (urgency) => gate.pass(NEVER, urgency),
        [...times(questions, 'question'), ...times(files, 'file')],
      );
      expect(passed).toHaveLength(files + questions);
      const whileFilesWait = passed.slice(0, passed.lastIndexOf('f') + 1);
      const asked = whileFilesWait.replaceAll('f', '').length;
      expect(asked).toBeLessThanOrEqual(0.03 * whileFilesWait.length);
      // Those that are fewer are over long before the others.
      const turnsOfQuestions = [...passed.matchAll(/q/gu)].map(({ index }) => index);
      for (const [nth, at] of turnsOfQuestions.entries())
        expect(at).toBeLessThanOrEqual((FILES_A_QUESTION + 1) * (nth + 1));
    },
  );

  test('a question that is given up takes no place', async () => {
    const gate = openGate(new SimulatedClock());
    void gate.pass(NEVER, 'question');
    const giveUp = new AbortController();
    const given = gate.pass(giveUp.signal, 'question');
    const waiting: Urgency[] = [...times(FILES_A_QUESTION + 1, 'file'), 'question'];
    const passing = order((urgency) => gate.pass(NEVER, urgency), waiting);
    giveUp.abort();
    expect(await given).toBeNull();
    expect(await passing).toBe(`${'f'.repeat(FILES_A_QUESTION)}qf`);
  });
});

describe('at all gates together', () => {
  const NO_LIMITS = { maxRequestsPerSecond: null, maxBytesPerSecond: null, longestPauseMs: Infinity };
  const rows: [string, number | null, number][] = [
    ["the platform's rate", null, 10],
    ['maxRequestsPerSecond', 2, 1000],
    ['both, the user the slower', 2, 5],
    ['both, the platform the slower', 10, 4],
  ];

  test.each(rows)('under %s at most 3 % are questions while files wait', async (_, perSecond, limit) => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxRequestsPerSecond: perSecond }, clock);
    const first = await pacer.turn('platform', NEVER);
    const report = { limit, remaining: limit - 1, resetMs: 1000, windowMs: 1000 };
    pacer.noteAnswer({ releasedAtMs: first ?? NaN, wasLimited: false, report });
    const pass: Pass = (urgency) => pacer.turn('platform', NEVER, urgency);
    const passed = await order(pass, [...times(60, 'question'), ...times(240, 'file')]);
    const whileFilesWait = passed.slice(0, passed.lastIndexOf('f') + 1);
    const questions = whileFilesWait.replaceAll('f', '').length;
    expect(questions).toBeGreaterThan(0);
    // One more: the first question came to a second gate before any file did.
    expect(questions).toBeLessThanOrEqual(Math.floor(whileFilesWait.length * 0.03) + 1);
    expect(passed).toHaveLength(300);
  });
});
