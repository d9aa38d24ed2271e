import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openServiceManager, type ServiceManager } from '../../src/service/systemd-notify.ts';
import { run, temporaryDirectory } from './fixture.ts';

/** A `systemd-notify` that notes its arguments, one call a line, and then does what `script` says. */
function recorder(script = '') {
  const directory = temporaryDirectory();
  const log = join(directory, 'calls');
  const command = join(directory, 'systemd-notify');
  writeFileSync(command, `#!/bin/sh\nprintf '%s|' "$@" >>'${log}'\necho >>'${log}'\n${script}\n`);
  chmodSync(command, 0o700);
  const warnings: string[] = [];
  const notifier = (env: NodeJS.ProcessEnv = {}): ServiceManager =>
    openServiceManager(
      { NOTIFY_SOCKET: '/run/nobody', PATH: `${directory}:${process.env['PATH'] ?? ''}`, ...env },
      (warning) => warnings.push(warning),
    );
  const calls = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
  return { directory, notifier, calls, warnings };
}

describe('messages', () => {
  test('go out in order, each state by itself', async () => {
    const { notifier, calls, warnings } = recorder();
    const told = notifier();
    told.ready('1 source');
    told.reloading();
    told.ready('2 sources');
    told.stopping();
    await told.flush();
    expect(calls()).toEqual([
      '--|READY=1|STATUS=1 source|',
      '--|RELOADING=1|',
      '--|READY=1|STATUS=2 sources|',
      '--|STOPPING=1|',
    ]);
    expect(warnings).toEqual([]);
  });

  test('of one kind collapse while another is delivered', async () => {
    const { directory, notifier, calls } = recorder('while [ ! -e "$0.go" ]; do sleep 0.02; done');
    const told = notifier();
    told.ready('starting');
    for (let number = 0; number < 100; number++) {
      told.status(`sent ${number}`);
      told.watchdog();
    }
    told.stopping();
    told.status('the end');
    writeFileSync(join(directory, 'systemd-notify.go'), '');
    await told.flush();
    expect(calls()).toEqual([
      '--|READY=1|STATUS=starting|',
      '--|STATUS=sent 99|WATCHDOG=1|',
      '--|STOPPING=1|STATUS=the end|',
    ]);
  });

  test.each([
    ['a\nREADY=1\r\n\tb\u0000c\u2028d\n', 'a READY=1 b c d'],
    ['--help "$HOME" `x`', '--help "$HOME" `x`'],
    ['x'.repeat(501), 'x'.repeat(500)],
    [`${'x'.repeat(499)}😀`, `${'x'.repeat(499)}\ufffd`],
    ['ä €', 'ä €'],
  ])('the status %j is one harmless line', async (text, line) => {
    const { notifier, calls } = recorder();
    const told = notifier();
    told.status(text);
    await told.flush();
    expect(calls()).toEqual([`--|STATUS=${line}|`]);
  });

  test('take nothing of our environment along but what they need', async () => {
    const { directory, notifier } = recorder('env >"$0.env"');
    const told = notifier({ BOTSYNC_TOKEN: 'bp_pat_secret' });
    told.watchdog();
    await told.flush();
    const env = readFileSync(join(directory, 'systemd-notify.env'), 'utf8');
    expect(env).toContain('NOTIFY_SOCKET=/run/nobody');
    expect(env).not.toContain('TOKEN');
  });
});

describe('a delivery that fails', () => {
  test.each([
    ['exit 3', /ended with code 3$/u],
    ['kill -9 $$', /ended by SIGKILL$/u],
  ])('(%s) is told once, and does not keep the next ones', async (script, warning) => {
    const { notifier, calls, warnings } = recorder(script);
    const told = notifier();
    told.ready('');
    told.stopping();
    await told.flush();
    expect(calls()).toHaveLength(2);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  test('for want of the command is told once', async () => {
    const { notifier, warnings } = recorder();
    const told = notifier({ PATH: temporaryDirectory() });
    told.ready('');
    told.stopping();
    await told.flush();
    expect(warnings).toEqual(['the service manager cannot be notified: systemd-notify: ENOENT']);
  });

  test('because the command hangs is given up', async () => {
    const { directory, calls } = recorder('[ $2 = STOPPING=1 ] || exec sleep 600');
    const { ended, firstLine } = run(
      'service/systemd-notify.ts',
      `import { openServiceManager } from './module.js';
       const told = openServiceManager(
         { NOTIFY_SOCKET: '/run/nobody', PATH: '${directory}:' + process.env.PATH },
         (warning) => console.log(warning),
       );
       told.ready('');
       told.stopping();
       await told.flush();`,
      (source) => source.replace('10_000', '100'),
    );
    expect(await firstLine).toMatch(/ended by SIGKILL$/u);
    expect(await ended).toBe(0);
    expect(calls()).toEqual(['--|READY=1|STATUS=|', '--|STOPPING=1|']);
  });
});

test.each([undefined, ''])('without a service manager (%j) nothing is called', async (socket) => {
  const { notifier, calls, warnings } = recorder();
  const told = notifier({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '1000000' });
  told.ready('');
  told.watchdog();
  told.status('x');
  await told.flush();
  expect(calls()).toEqual([]);
  expect(warnings).toEqual([]);
  expect(told.watchdogIntervalMs).toBeNull();
});

test.each([
  ['nothing', {}, null],
  ['90 s', { WATCHDOG_USEC: '90000000' }, 90_000],
  ['1.5 ms, meant for this process', { WATCHDOG_USEC: '1500', WATCHDOG_PID: String(process.pid) }, 1.5],
  [
    '90 s, meant for another process',
    { WATCHDOG_USEC: '90000000', WATCHDOG_PID: String(process.ppid) },
    null,
  ],
  ['no time', { WATCHDOG_USEC: '0' }, null],
  ['a word', { WATCHDOG_USEC: 'soon' }, null],
])('the watchdog of %s', (_name, env, intervalMs) => {
  expect(recorder().notifier(env).watchdogIntervalMs).toBe(intervalMs);
});

const canReceive =
  spawnSync('systemd-notify', ['--version']).status === 0 && spawnSync('python3', ['--version']).status === 0;

test.runIf(canReceive)('the real command delivers them to a real socket', async () => {
  const socket = join(temporaryDirectory(), 'notify');
  const receiver = spawn(
    'python3',
    [
      '-uc',
      `import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(${JSON.stringify(socket)})
print('bound')
while True: print(repr(s.recv(8192).decode()))`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => {
    receiver.kill();
  });
  const received = createInterface(receiver.stdout)[Symbol.asyncIterator]();
  expect((await received.next()).value).toBe('bound');
  const told = openServiceManager({ ...process.env, NOTIFY_SOCKET: socket }, (warning) => {
    throw new Error(warning);
  });
  told.ready('up: ä');
  told.watchdog();
  await told.flush();
  const messages: unknown[] = [];
  // Each call ends with a barrier of its own.
  for (let count = 0; count < 4; count++) messages.push((await received.next()).value);
  expect(messages).toEqual([
    String.raw`'READY=1\nSTATUS=up: ä'`,
    "'BARRIER=1'",
    "'WATCHDOG=1'",
    "'BARRIER=1'",
  ]);
});
