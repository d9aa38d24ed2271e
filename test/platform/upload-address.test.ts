import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';
import { answerJson, connect, failureIn, NEVER, serve, upsertBody, valueOf } from './fixture.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A platform over TLS that names an upload address; its certificate is believed for the test. */
async function encryptedPlatform(uploadUrl: string): Promise<string> {
  const server = createServer(TEST_ONLY_IDENTITY, (message, response) => {
    message.resume().on('end', () => {
      answerJson(response, 200, { file: { uploadUrl } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

describe('an upload address', () => {
  test.each([
    'http://169.254.169.254/latest',
    'http://127.0.0.1:6379/',
    'http://store.test/?X-Amz-Signature=SECRET',
  ])('that is not encrypted is not taken from a platform that is: %s', async (address) => {
    const { platform } = connect(await encryptedPlatform(address));
    const failure = failureIn(await platform.upsert('b', upsertBody('a', 3), NEVER));
    expect(failure).toEqual({
      kind: 'transient',
      message: expect.stringContaining('the upload address begins with "http:"') as string,
    });
    expect(JSON.stringify(failure)).not.toContain('SECRET');
  });

  test('that is encrypted is taken', async () => {
    const { platform } = connect(await encryptedPlatform('https://store.test/a'));
    expect(valueOf(await platform.upsert('b', upsertBody('a', 3), NEVER)).uploadUrl.href).toBe(
      'https://store.test/a',
    );
  });

  test('within this machine is taken from a platform that is there as well', async () => {
    const server = await serve((message, response) => {
      message.resume().on('end', () => {
        answerJson(response, 200, { file: { uploadUrl: 'http://127.0.0.1:1/a' } });
      });
    });
    const { platform } = connect(server.url);
    expect(valueOf(await platform.upsert('b', upsertBody('a', 3), NEVER)).uploadUrl.host).toBe('127.0.0.1:1');
  });

  test('gets the content and nothing that the platform is told besides, wherever it leads', async () => {
    const names: string[] = [];
    const internal = await serve((message, response) => {
      names.push(...Object.keys(message.headers));
      message.resume().on('end', () => response.end());
    });
    const { platform } = connect('http://unused.test', {
      token: 'SECRET',
      identityHeaders: { 'x-user-id': 'u' },
    });
    const file = { uploadUrl: new URL(`${internal.url}/?s=1`), contentType: 'a/b' };
    valueOf(await platform.upload(file, { kind: 'whole', bytes: Buffer.from('abc') }, false, NEVER));
    expect(names.sort()).toEqual(['connection', 'content-length', 'content-type', 'host']);
  });
});
