import { describe, expect, test } from 'vitest';
import { TOPICS, type Topic } from '../../src/domain/notice.ts';
import { decideNotices, SUMMARY, visibleTroubles, type LastNotice } from '../../src/notify/decide.ts';
import {
  see,
  type Sightings,
  nameOf,
  subjectNamed,
  subjectOf,
  type Snapshot,
  type Subject,
  type Trouble,
} from '../../src/notify/trouble.ts';
import { expiring, failing, HALTED, LOST, MINUTE, MISCONFIGURED, NOW, REFUSED, snapshot } from './fixture.ts';

const QUIET = 15 * MINUTE;
const DAY = 24 * 60 * MINUTE;
const SETTINGS = { on: new Set<Topic>(TOPICS), quietMs: QUIET, summaryEveryMs: DAY };
const NO_SUMMARY = { ...SETTINGS, on: new Set<Topic>(TOPICS.filter((topic) => topic !== 'summary')) };
const CREDENTIALS: Subject = { kind: 'credentials', source: null };

/** What is shown, by the minute. */
type Scenes = Readonly<Record<number, Snapshot>>;

/** Plays snapshots at times, every notice told at once. Gives what was told, as "minute kind subject". */
function play(
  scenes: Scenes,
  settings = NO_SUMMARY,
  settleMs = 0,
  isPatient = true,
): { told: string[]; memory: Map<string, LastNotice>; seen: Sightings } {
  const memory = new Map<string, LastNotice>();
  let seen: Sightings = new Map();
  const told: string[] = [];
  const minutes = Object.keys(scenes).map(Number);
  for (const minute of minutes.sort((a, b) => a - b)) {
    const shown = scenes[minute] as Snapshot;
    const nowMs = NOW + minute * MINUTE;
    seen = see(seen, shown, nowMs, settleMs);
    for (const { notice, name, told: remembered } of decideNotices(
      { snapshot: shown, seen, memory, nowMs },
      settings,
      isPatient,
    )) {
      if (notice !== null) told.push(`${minute} ${notice.kind} ${name}`);
      if (remembered === null) memory.delete(name);
      else memory.set(name, remembered);
    }
  }
  return { told, memory, seen };
}

const D = '["failing","docs"]';

describe('a trouble', () => {
  test.each<[string, Scenes, string[]]>([
    [
      'is told when it begins, and not again',
      { 0: snapshot([failing(1)]), 1: snapshot([failing(1)]), 999: snapshot([failing(1)]) },
      [`0 began ${D}`],
    ],
    [
      'is told when it is over, without waiting',
      { 0: snapshot([failing(1)]), 1: snapshot([]), 2: snapshot([]), 99: snapshot([]) },
      [`0 began ${D}`, `1 over ${D}`],
    ],
    [
      'that comes back within the quiet time is told when that is over',
      {
        0: snapshot([failing(1)]),
        1: snapshot([]),
        2: snapshot([failing(1)]),
        15: snapshot([failing(1)]),
        16: snapshot([failing(1)]),
      },
      [`0 began ${D}`, `1 over ${D}`, `16 began ${D}`],
    ],
    [
      'that comes back and goes within the quiet time is not told at all',
      {
        0: snapshot([failing(1)]),
        1: snapshot([]),
        2: snapshot([failing(1)]),
        3: snapshot([]),
        99: snapshot([]),
      },
      [`0 began ${D}`, `1 over ${D}`],
    ],
    [
      'that grows is told after the quiet time',
      {
        0: snapshot([failing(1)]),
        1: snapshot([failing(5)]),
        15: snapshot([failing(5)]),
        99: snapshot([failing(5)]),
      },
      [`0 began ${D}`, `15 grew ${D}`],
    ],
    [
      'that shrinks is no news, but what comes then is',
      { 0: snapshot([failing(5)]), 20: snapshot([failing(2)]), 40: snapshot([failing(3)]) },
      [`0 began ${D}`, `40 grew ${D}`],
    ],
    [
      'of one source is none of another',
      {
        0: snapshot([failing(1)]),
        1: snapshot([failing(1), failing(1, 'more')]),
        2: snapshot([failing(1, 'more')]),
      },
      [`0 began ${D}`, '1 began ["failing","more"]', `2 over ${D}`],
    ],
    [
      'of a source that left the config ends without a word',
      { 0: snapshot([failing(1)]), 1: { sources: ['more'], troubles: [], unknown: [] }, 99: snapshot([]) },
      [`0 began ${D}`],
    ],
    [
      'unreachable is told when it lasts a minute',
      { 0: snapshot([LOST]), 0.5: snapshot([LOST]), 1: snapshot([LOST]), 2: snapshot([]) },
      ['1 began ["out-of-reach"]', '2 over ["out-of-reach"]'],
    ],
    [
      'unreachable that passes is not told',
      { 0: snapshot([LOST]), 0.5: snapshot([]), 1: snapshot([LOST]) },
      [],
    ],
    [
      'of renewals is told when it lasts five minutes',
      { 0: snapshot([expiring(2)]), 4: snapshot([expiring(2)]), 5: snapshot([expiring(2)]) },
      ['5 began ["expiring","docs"]'],
    ],
    [
      'that is not known to be over is not told to be',
      { 0: snapshot([REFUSED]), 1: snapshot([], [CREDENTIALS]), 2: snapshot([]) },
      ['0 began ["credentials"]', '2 over ["credentials"]'],
    ],
    [
      'of files that a halt explains is not told beside it',
      { 0: snapshot([HALTED, failing(1)]), 20: snapshot([failing(1)]) },
      ['0 began ["halted","docs"]', '20 over ["halted","docs"]', `20 began ${D}`],
    ],
    [
      'of files that were told of stays as it was during a halt',
      { 0: snapshot([failing(1)]), 1: snapshot([HALTED]), 20: snapshot([failing(1)]) },
      [`0 began ${D}`, '1 began ["halted","docs"]', '20 over ["halted","docs"]'],
    ],
    [
      'of files that refused credentials explain is not told beside them',
      { 0: snapshot([REFUSED, failing(8)]), 1: snapshot([failing(8)], [CREDENTIALS]), 2: snapshot([]) },
      ['0 began ["credentials"]', '2 over ["credentials"]'],
    ],
  ])('%s', (_, scenes, expected) => {
    expect(play(scenes).told).toEqual(expected);
  });

  test('is told at once when there is no later', () => {
    const { told } = play({ 0: snapshot([LOST, expiring(1)]) }, NO_SUMMARY, 0, false);
    expect(told).toEqual(['0 began ["out-of-reach"]', '0 began ["expiring","docs"]']);
  });

  test('that nobody wants to hear of is forgotten, and so is its end', () => {
    const silent = { ...SETTINGS, on: new Set<Topic>(['failing']) };
    const { told, memory } = play(
      { 0: snapshot([failing(1), HALTED]), 1: snapshot([]), 99: snapshot([]) },
      silent,
    );
    expect(told).toEqual([`0 began ${D}`]);
    expect(memory).toEqual(new Map());
    const remembered = new Map([['["halted","docs"]', { toldAtMs: NOW, count: 1 }]]);
    const shown = snapshot([HALTED]);
    const seen = see(new Map(), shown, NOW, 0);
    const evidence = { snapshot: shown, seen, memory: remembered, nowMs: NOW };
    expect(decideNotices(evidence, silent, true)).toEqual([
      { notice: null, name: '["halted","docs"]', told: null },
    ]);
  });

  test('that was told by a clock that was ahead is told again', () => {
    const memory = new Map([[D, { toldAtMs: NOW + DAY, count: null }]]);
    const shown = snapshot([failing(1)]);
    const evidence = { snapshot: shown, seen: see(new Map(), shown, NOW, 0), memory, nowMs: NOW };
    const steps = decideNotices(evidence, NO_SUMMARY, true);
    expect(steps).toMatchObject([{ notice: { kind: 'began' } }]);
  });
});

test('nothing is told, and nothing remembered, while nothing happens', () => {
  expect(play({ 0: snapshot([]), 1: snapshot([]) })).toEqual({
    told: [],
    memory: new Map(),
    seen: new Map(),
  });
});

describe('the summary', () => {
  test('is told every so often, and not at the very first', () => {
    const scenes = Object.fromEntries([0, 1439, 1440, 1441, 2880].map((minute) => [minute, snapshot([])]));
    expect(play(scenes, SETTINGS).told).toEqual([`1440 summary ${SUMMARY}`, `2880 summary ${SUMMARY}`]);
  });
  test('is not told of by a clock that was ahead', () => {
    const memory = new Map([[SUMMARY, { toldAtMs: NOW + 1, count: null }]]);
    const evidence = { snapshot: snapshot([]), seen: new Map(), memory, nowMs: NOW };
    const steps = decideNotices(evidence, SETTINGS, true);
    expect(steps).toEqual([{ notice: null, name: SUMMARY, told: { toldAtMs: NOW, count: null } }]);
  });
  test('names what is wrong, and not what that explains', () => {
    const shown = snapshot([HALTED, failing(2), failing(1, 'more')]);
    const seen = see(new Map(), shown, NOW, 0);
    expect(visibleTroubles(shown, seen, new Map(), SETTINGS.on)).toEqual([HALTED, failing(1, 'more')]);
  });
});

describe('what is seen', () => {
  const SETTLE = 15_000;
  const at = (second: number): number => second / 60;
  test.each<[string, Scenes, string[]]>([
    [
      'gone for moments is not gone',
      {
        0: snapshot([failing(1)]),
        [at(10)]: snapshot([]),
        [at(20)]: snapshot([failing(1)]),
        [at(30)]: snapshot([]),
        [at(40)]: snapshot([failing(1)]),
      },
      [`0 began ${D}`],
    ],
    [
      'gone for longer is gone',
      { 0: snapshot([failing(1)]), [at(10)]: snapshot([]), [at(20)]: snapshot([]) },
      [`0 began ${D}`, `${at(20)} over ${D}`],
    ],
    [
      'smaller for moments is not smaller',
      {
        0: snapshot([failing(5)]),
        20: snapshot([failing(5)]),
        [20 + at(10)]: snapshot([failing(4)]),
        [20 + at(20)]: snapshot([failing(5)]),
      },
      [`0 began ${D}`],
    ],
    [
      'not known stays as it was',
      { 0: snapshot([REFUSED]), 1: snapshot([], [CREDENTIALS]), 2: snapshot([REFUSED]) },
      ['0 began ["credentials"]'],
    ],
  ])('%s', (_, scenes, expected) => {
    expect(play(scenes, NO_SUMMARY, SETTLE).told).toEqual(expected);
  });
});

test.each<Trouble>([failing(1), HALTED, expiring(1), REFUSED, MISCONFIGURED, LOST])(
  'the subject of %j has a name',
  (trouble) => {
    const subject = subjectOf(trouble);
    expect(subjectNamed(nameOf(subject))).toEqual(subject);
  },
);

test.each(['["other"]', '["failing"]', SUMMARY])('%s names no subject', (name) => {
  expect(subjectNamed(name)).toBeNull();
});
