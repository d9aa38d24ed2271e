import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionValue, readAction, type PageAction } from '../../src/service/page-source.ts';

test.each<[PageAction, string]>([
  [{ kind: 'approve', source: 'docs', halt: '1a' }, 'action=approve&source=docs&halt=1a'],
  [{ kind: 'rescan', source: null }, 'action=rescan'],
  [{ kind: 'rescan', source: 'a&b' }, 'action=rescan&source=a%26b'],
  [{ kind: 'retry', source: 'docs', path: 'a/b\n.md' }, 'action=retry&source=docs&path=a%2Fb%0A.md'],
  [{ kind: 'sign-out' }, 'action=sign-out'],
])('%j is the button %s', (action, value) => {
  expect(actionValue(action)).toBe(value);
  expect(readAction(value)).toEqual(action);
});

test.each(['', 'approve', 'action=approve', 'action=retry&source=a', 'action=retry&path=a', 'action=reload'])(
  '%s is no button of the page',
  (value) => {
    expect(readAction(value)).toBeNull();
  },
);

test('whatever a file is called, the button means that file and survives a form', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(name, name, (source, path) => {
      const value = actionValue({ kind: 'retry', source, path });
      // What a form would change: line breaks, and what is beyond ASCII.
      expect(value).toMatch(/^[\x21-\x7e]+$/u);
      expect(readAction(value)).toEqual({ kind: 'retry', source, path });
    }),
  );
});
