import { describe, expect, test } from 'vitest';
import type { Obstacle } from '../../src/domain/obstacle.ts';
import { begin, NOW } from './fixture.ts';

function unreadable(code: string): Obstacle {
  return { kind: 'unreadable', code };
}

describe('problems, sources, passes', () => {
  test('a problem is renewed by its source and path, and dropped when a pass did not see it again', () => {
    const { store } = begin();
    const note = (source: string, at: string, reason: string, pass: number): void => {
      store.problems.note({ source, path: at, key: null, kind: 'refuse', reason: unreadable(reason) }, pass);
    };
    note('docs', 'a', 'first', 1);
    note('docs', 'b', 'first', 1);
    note('more', 'a', 'first', 1);
    note('docs', 'b', 'second', 2);
    store.problems.note(
      { source: 'docs', path: 'c', key: null, kind: 'problem', reason: unreadable('x') },
      2,
    );
    expect(store.overview.problems()).toEqual(
      new Map([
        ['docs', { refuse: 2, problem: 1, pending: 0 }],
        ['more', { refuse: 1, problem: 0, pending: 0 }],
      ]),
    );
    store.problems.dropBefore('docs', 2);
    expect(
      store.overview
        .failures(
          new Map([
            ['docs', 1],
            ['more', 1],
          ]),
          10,
          NOW,
        )
        .map(({ source, path: at, reason }) => [source, at, reason]),
    ).toEqual([
      ['docs', 'b', unreadable('second')],
      ['docs', 'c', unreadable('x')],
      ['more', 'a', unreadable('first')],
    ]);
  });

  test('a source is remembered as it was last seen', () => {
    const { store } = begin();
    expect(store.source('docs')).toBeNull();
    store.saveSource('docs', { directory: '/d', identity: '1', halt: null });
    store.saveSource('docs', {
      directory: '/d',
      identity: '2',
      halt: { kind: 'missing', directory: '/d', fault: { kind: 'silent' } },
    });
    store.saveSource('more', { directory: '/m', identity: '3', halt: null });
    expect(store.source('docs')).toEqual({
      directory: '/d',
      identity: '2',
      halt: { kind: 'missing', directory: '/d', fault: { kind: 'silent' } },
    });
    expect(store.source('more')).toEqual({ directory: '/m', identity: '3', halt: null });
  });

  test('the last pass is, and the next one gets a number', () => {
    const { store } = begin();
    expect(store.overview.lastPass()).toBeNull();
    expect(store.nextPassNumber()).toBe(1);
    store.savePass(1, NOW, 3, '{"uploaded":1}');
    store.savePass(2, NOW + 1, 0, '{}');
    expect(store.overview.lastPass()).toEqual({ finishedAtMs: NOW + 1, exitCode: 0, summary: '{}' });
    expect(store.nextPassNumber()).toBe(3);
  });
});
