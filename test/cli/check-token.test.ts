import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkToken } from '../../src/cli/doctor/check-platform.ts';
import { PlatformAccess } from '../../src/run/platform/platform-access.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import { systemClock } from '../../src/service/system-clock.ts';
import { start, temporaryDir } from '../emulator/fixture.ts';

const BOTS = [
  { id: 'bot-1', name: 'One' },
  { id: 'bot-2', name: 'Two' },
];

/** What the doctor says of a token, a line each, where there is no workspace; and what it asked. */
async function examine(
  platform: object,
  prepare: (emulator: Awaited<ReturnType<typeof start>>['emulator']) => void = () => undefined,
): Promise<{ lines: string[]; asked: Record<string, number> }> {
  const { emulator } = await start({ now: Date.now, bots: BOTS });
  prepare(emulator);
  process.env['CHECK_TOKEN_TEST'] = emulator.token;
  onTestFinished(() => {
    delete process.env['CHECK_TOKEN_TEST'];
  });
  const text = JSON.stringify({
    platform: { baseUrl: emulator.baseUrl, botId: 'bot-1', token: 'env:CHECK_TOKEN_TEST', ...platform },
    sources: [{ directory: './a' }, { directory: './b', botId: 'bot-2', keyPrefix: 'b/' }],
  });
  const loaded = parseConfig(text, join(temporaryDir(), 'botsync.config.json'));
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
  const notices = { warn: () => undefined, retrying: () => undefined };
  const access = new PlatformAccess({
    loaded,
    emulator: null,
    env: process.env,
    clock: systemClock,
    notices,
  });
  onTestFinished(() => access.close());
  const { signal } = new AbortController();
  const found = await checkToken(loaded.config, access.clients, 'there is no workspace', signal);
  return {
    lines: found.map(({ finding: { status, check, message, fix } }) =>
      [status, check, message, ...(fix === null ? [] : [fix])].join(' | '),
    ),
    asked: Object.fromEntries(emulator.counts),
  };
}

test('a token is tried at the files of each bot, once, by a list', async () => {
  const { lines, asked } = await examine({});
  expect(lines).toEqual([
    'ok | token | the platform accepts it for the files of bot bot-1',
    'ok | token | the platform accepts it for the files of bot bot-2',
    'warn | bots | were not looked up: there is no workspace',
    "ok | clock | agrees with the platform's clock",
  ]);
  expect(asked).toEqual({ 'list-files': 2 });
});

test('a token that may list no files need not be wrong', async () => {
  const { lines } = await examine({}, ({ faults }) => {
    faults.add({ operation: 'list-files', kind: 'status', status: 403 });
  });
  expect(lines[0]).toMatch(
    /^warn \| token \| was not checked: the files of bot bot-1 cannot be listed: .*403/u,
  );
  expect(lines[1]).toMatch(/^ok \| token/u);
});

test('a token that is refused is not tried again', async () => {
  const { lines, asked } = await examine({}, ({ faults }) => {
    faults.add({ operation: 'list-files', kind: 'status', status: 401 });
  });
  expect(lines).toEqual([
    expect.stringMatching(
      /^fail \| token \| the files of bot bot-1 .*401.* \| check platform\.token \(from the environment variable CHECK_TOKEN_TEST\)$/u,
    ),
  ]);
  expect(asked).toEqual({ 'list-files': 1 });
});

test('a bot that is not there does not keep the others from being looked at', async () => {
  const { lines } = await examine({ botId: 'bot-9' });
  expect(lines[0]).toMatch(/^fail \| bots \| the files of bot bot-9 .* \| check the bot's id/u);
  expect(lines[1]).toMatch(/^ok \| token .*bot-2$/u);
});

test('a platform that is unreachable is asked once', async () => {
  const { lines } = await examine({ baseUrl: 'http://127.0.0.1:1' });
  expect(lines).toEqual([
    expect.stringMatching(/^fail \| token \| .* \| check the network and platform.baseUrl, then try again$/u),
  ]);
});

test('where nothing but the specification is used, the token is not tried', async () => {
  const { lines, asked } = await examine({ operations: 'specified' });
  expect(lines).toEqual([
    'warn | token | was not checked: platform.operations is "specified", and there is no workspace',
  ]);
  expect(asked).toEqual({});
});
