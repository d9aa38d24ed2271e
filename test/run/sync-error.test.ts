import { expect, test } from 'vitest';
import { exitCodeOfError, UsageError } from '../../src/cli/usage-error.ts';
import { EXIT } from '../../src/domain/exit-code.ts';
import { configurationError, partsOf, SyncError, type SyncErrorCode } from '../../src/run/sync-error.ts';

test('an error says where, what and what to do, apart and in one message', () => {
  const error = new SyncError('busy', { place: '/var/state.db', reason: 'is held', fix: 'wait for it' });
  expect(error).toMatchObject({
    place: '/var/state.db',
    reason: 'is held',
    fix: 'wait for it',
    problems: [],
  });
  expect(error.message).toBe('/var/state.db is held; wait for it');
  expect(new SyncError('platform', { reason: 'no answer' })).toMatchObject({
    ...{ message: 'no answer', place: null, fix: null },
  });
});

test('an error of the configuration has all problems, and tells of the first as its own', () => {
  const problem = { file: 'b.json', position: { line: 2, column: 3 }, field: 'rules[0]', message: 'a; b; c' };
  const whole = { file: 'b.json', position: null, field: '', message: 'file not found' };
  expect(configurationError([problem, whole])).toMatchObject({
    ...{ code: 'configuration', place: 'b.json: rules[0]', reason: 'a; b', fix: 'c' },
    problems: [problem, whole],
    message: 'b.json:2:3: rules[0]: a; b; c\nb.json: file not found',
  });
  expect(configurationError([whole])).toMatchObject({ place: 'b.json', fix: null });
  expect(partsOf('no fix')).toEqual({ reason: 'no fix', fix: null });
});

test.each<[SyncErrorCode, number]>([
  ['usage', EXIT.usage],
  ['configuration', EXIT.usage],
  ['state-file', EXIT.usage],
  ['state-file-failed', EXIT.incomplete],
  ['busy', EXIT.busy],
  ['credentials', EXIT.credentials],
  ['platform', EXIT.incomplete],
  ['not-served', EXIT.incomplete],
  ['interrupted', EXIT.interrupted],
])('%s ends a command with %i', (code, exitCode) => {
  expect(exitCodeOfError(new SyncError(code, { reason: '' }))).toBe(exitCode);
  const codes = [EXIT.usage, EXIT.incomplete, EXIT.credentials, EXIT.busy, EXIT.interrupted];
  for (const own of codes) expect(exitCodeOfError(new UsageError('x; y', own))).toBe(own);
});
