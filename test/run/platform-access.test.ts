import { chmodSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { PlatformAccess } from '../../src/run/platform/platform-access.ts';
import { SyncError } from '../../src/run/sync-error.ts';
import { load, temporaryFile } from '../config/fixture.ts';
import { start } from '../emulator/fixture.ts';
import { NEVER, SimulatedClock } from '../platform/fixture.ts';

const PLATFORM = { botId: 'bot-1', baseUrl: 'http://127.0.0.1:1' };

/** A file that holds a secret and that others can read. */
function openSecret(secret: string): string {
  const file = temporaryFile('secret', secret);
  chmodSync(file, 0o644);
  return file;
}

/** A way to the platform that a configuration names, and what was warned of. */
function access(fields: Record<string, unknown>, emulator: PlatformAccessInput['emulator'] = null) {
  const warnings: string[] = [];
  const notices = { warn: (...told: string[]) => warnings.push(...told), retrying: () => undefined };
  const made = new PlatformAccess({
    loaded: load(fields),
    emulator,
    env: process.env,
    clock: new SimulatedClock(),
    notices,
  });
  onTestFinished(() => made.close());
  return { made, warnings };
}

type PlatformAccessInput = ConstructorParameters<typeof PlatformAccess>[0];

test('a secret that is not there is a problem of the configuration, with its place', () => {
  const { made } = access({ platform: { ...PLATFORM, token: 'env:NO_SUCH_VARIABLE' } });
  const error = catchError(() => made.clients.files());
  expect(error).toMatchObject({
    code: 'configuration',
    problems: [
      {
        field: 'platform.token',
        position: { line: expect.any(Number) as number, column: expect.any(Number) as number },
        message: expect.stringMatching(/^the environment variable NO_SUCH_VARIABLE is not set/u) as string,
      },
    ],
  });
});

function catchError(task: () => unknown): unknown {
  try {
    task();
  } catch (error) {
    return error;
  }
  return null;
}

test('each secret is read once, and its warnings are told once, whichever clients use it', () => {
  const [token, userKey] = [openSecret('the-token'), openSecret('the-key')];
  const chat = { webhookId: 'w', userKey: `file:${userKey}` };
  const { made, warnings } = access({
    platform: { ...PLATFORM, token: `file:${token}`, workspaceId: 'w', chat },
  });
  expect(made.credentials.secrets).toEqual([]);
  const files = made.clients.files();
  expect(made.clients.files()).toBe(files);
  made.clients.chat();
  for (const file of [token, userKey]) rmSync(file);
  const messages = made.forMessages(() => undefined);
  onTestFinished(() => messages.close());
  for (const { clients } of [made, messages]) {
    clients.administration();
    clients.conversations({});
    clients.chat();
    clients.chat();
  }
  expect(made.fingerprint).toBe(made.fingerprint);
  expect(made.credentials.secrets).toEqual(['the-token', 'the-key']);
  expect(warnings).toEqual(
    [token, userKey].map((file) => expect.stringContaining(`chmod 600 ${file}`) as string),
  );
});

test('a client asks for what it takes when it is made, the emulator for nothing', async () => {
  const bare = { platform: { botId: 'bot-1' } };
  const { made } = access(bare);
  const { files, administration, conversations, chat } = made.clients;
  for (const make of [files, administration, () => conversations({}), chat]) expect(make).toThrow(SyncError);
  expect(() => made.fingerprint).toThrow();
  const { emulator } = await start({ bots: [{ id: 'bot-1', name: 'One' }] });
  const emulated = access(bare, emulator).made;
  expect(emulated.credentials.lacking('notify')).toEqual([]);
  expect((await emulated.clients.administration().listBots(NEVER)).kind).toBe('ok');
  for (const make of [emulated.clients.files, emulated.clients.chat]) make();
  expect(emulated.credentials.secrets).toEqual([emulator.token, emulator.userKey]);
});

test('a pause that is asked of messages holds up no file, nor the other way round', () => {
  const { made } = access({});
  const messages = made.forMessages(() => undefined);
  onTestFinished(() => messages.close());
  messages.pause(5_000);
  expect([made.pausedForMs(), messages.pausedForMs()]).toEqual([0, 5_000]);
});

test('the fingerprint tells every setting of platform and transfers apart, and the token, and nothing else', () => {
  const [token, other] = [temporaryFile('a', 'one'), temporaryFile('b', 'two')];
  const platform = { ...PLATFORM, token: `file:${token}` };
  const fingerprint = (fields: object): string => access({ platform, ...fields }).made.fingerprint;
  const own = fingerprint({});
  expect(fingerprint({ service: { hangTimeout: '10m' } })).toBe(own);
  const others = [
    { platform: { ...platform, baseUrl: 'http://127.0.0.1:2' } },
    { platform: { ...platform, token: `file:${other}` } },
    { platform: { ...platform, identity: { userId: 'u' } } },
    { platform: { ...platform, operations: 'specified' } },
    { platform: { ...platform, workspaceId: 'w' } },
    { platform: { ...platform, mark: false } },
    { upload: { concurrency: 2 } },
  ].map(fingerprint);
  expect(new Set([own, ...others]).size).toBe(8);
  expect(others.join()).not.toContain('two');
});

const LISTENING = { listen: '127.0.0.1:0' };

test.each([
  ['0123456789abcde', /^the secret has only 15 characters; write one of at least 16, such as: openssl/u],
  ['', /is empty; it must contain the secret/u],
])('%j is no secret for the page', (secret, message) => {
  const control = `file:${temporaryFile('control', secret)}`;
  const fields = { platform: PLATFORM, service: { ...LISTENING, control } };
  const error = catchError(() => access(fields).made.credentials.control());
  expect(error).toMatchObject({
    code: 'configuration',
    problems: [{ field: 'service.control', message: expect.stringMatching(message) as string }],
  });
});

test('the secret for the page is one that is never shown, and may be missing beside the emulator', async () => {
  const secret = '0123456789abcdef';
  const control = `file:${temporaryFile('control', secret)}`;
  const { made } = access({ platform: PLATFORM, service: { ...LISTENING, control } });
  expect(made.credentials.control()).toBe(secret);
  expect(made.credentials.secrets).toEqual([secret]);
  expect(access({ platform: PLATFORM }).made.credentials.control()).toBeNull();
  const missing = { platform: PLATFORM, service: { ...LISTENING, control: 'env:NO_SUCH_VARIABLE' } };
  const beside = access(missing, (await start()).emulator);
  expect(beside.made.credentials.control()).toBeNull();
  expect(beside.warnings).toEqual([
    expect.stringMatching(/^service\.control: the environment variable NO_SUCH_VARIABLE is not set/u),
  ]);
});
