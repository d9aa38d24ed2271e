import { expect, test } from 'vitest';
import { servesStandardError } from '../../src/service/systemd-notify.ts';

const stat = { dev: 8n, ino: 4711n };

test.each([
  ['the journal reads it', { JOURNAL_STREAM: '8:4711' }, true],
  ['an ancestor of it was connected to the journal', { JOURNAL_STREAM: '8:1' }, false],
  ['the service manager started this process', { SYSTEMD_EXEC_PID: '12' }, true],
  ['the service manager started an ancestor', { SYSTEMD_EXEC_PID: '1' }, false],
  ['the service manager waits for the start', { NOTIFY_SOCKET: '/run/systemd/notify' }, true],
  ['it is a shell of a desktop session', { INVOCATION_ID: '0123456789abcdef' }, false],
  ['nobody said anything', {}, false],
])('%s', (_what, env, expected) => {
  expect(servesStandardError({ env, pid: 12, stat })).toBe(expected);
});

test('a closed standard error is not the journal', () => {
  expect(servesStandardError({ env: { JOURNAL_STREAM: '8:4711' }, pid: 12, stat: null })).toBe(false);
});
