import { expect, test } from 'vitest';
import { usesColour } from '../../src/service/colour.ts';

const onTerminal = { env: { TERM: 'xterm-256color' }, isForbidden: false, isTerminal: true };
const inPipe = { ...onTerminal, isTerminal: false };

test.each([
  ['a terminal', onTerminal, true],
  ['a pipe', inPipe, false],
  ['NO_COLOR', { ...onTerminal, env: { TERM: 'xterm', NO_COLOR: '1' } }, false],
  ['an empty NO_COLOR, which says nothing', { ...onTerminal, env: { TERM: 'xterm', NO_COLOR: '' } }, true],
  ['--no-color', { ...onTerminal, isForbidden: true }, false],
  ['a terminal without colours', { ...onTerminal, env: { TERM: 'dumb' } }, false],
  ['FORCE_COLOR in a pipe', { ...inPipe, env: { FORCE_COLOR: '1' } }, true],
  ['FORCE_COLOR=0 on a terminal', { ...onTerminal, env: { FORCE_COLOR: '0' } }, false],
  ['--no-color beside FORCE_COLOR', { ...inPipe, env: { FORCE_COLOR: '1' }, isForbidden: true }, false],
])('%s', (_what, input, expected) => {
  expect(usesColour(input)).toBe(expected);
});
