import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:http';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { start } from '../emulator/fixture.ts';
import { startProxy } from '../proxy.ts';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';
import {
  closedAddress,
  connect,
  failureIn,
  listenOnFreePort,
  NEVER,
  upsertBody,
  valueOf,
  type TestClient,
} from './fixture.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];

/** Sets the proxy variables for the test, and none but these. */
function setEnvironment(variables: Readonly<Record<string, string>>): void {
  const before = { ...process.env };
  for (const name of VARIABLES) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, variables);
  onTestFinished(() => {
    for (const name of VARIABLES) {
      const value = before[name];
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });
}

/** Upsert and upload of a small file. */
async function store({ platform }: TestClient): Promise<void> {
  const file = valueOf(await platform.upsert('demo-bot', upsertBody('a.txt', 3), NEVER));
  valueOf(await platform.upload(file, { kind: 'whole', bytes: Buffer.from('abc') }, false, NEVER));
}

test('what kept connections from being made is tried again with the next request', async () => {
  const { emulator } = await start();
  setEnvironment({ http_proxy: 'http://[nonsense' });
  const client = connect(emulator.baseUrl, { token: emulator.token, useProxy: true });
  const before = failureIn(await client.platform.upsert('demo-bot', upsertBody('a.txt', 3), NEVER));
  expect(before.message).toContain('$http_proxy is not an address');
  Reflect.deleteProperty(process.env, 'http_proxy');
  await store(client);
});

test('what is given up within a tunnel is reset, and closing waits for nothing', async () => {
  const store = createTlsServer(TEST_ONLY_IDENTITY, () => undefined);
  const isAsked = once(store, 'request');
  const port = await listenOnFreePort(store);
  onTestFinished(() => {
    store.close();
    store.closeAllConnections();
  });
  const proxy = await startProxy();
  setEnvironment({ HTTPS_PROXY: proxy.url });
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { platform, http } = connect('http://platform.test', { useProxy: true });
  const abort = new AbortController();
  const uploadUrl = new URL(`https://localhost:${port}/a`);
  const content = { kind: 'whole', bytes: Buffer.from('abc') } as const;
  const upload = platform.upload({ uploadUrl, contentType: 'a/b' }, content, false, abort.signal);
  await isAsked;
  abort.abort();
  expect(failureIn(await upload).message).toBe('interrupted');
  await http.close();
  expect(proxy.asked).toEqual([`CONNECT localhost:${port}`]);
});

describe('a proxy', () => {
  test.each(['http_proxy', 'HTTP_PROXY'])('of %s carries the platform and the store', async (name) => {
    const { emulator } = await start();
    const proxy = await startProxy();
    setEnvironment({ [name]: proxy.url });
    await store(connect(emulator.baseUrl, { token: emulator.token, useProxy: true }));
    expect(proxy.asked).toHaveLength(2);
    // In absolute form: many proxies tunnel to port 443 alone.
    expect(proxy.asked.every((line) => line.startsWith(`PUT ${emulator.baseUrl}/`))).toBe(true);
    expect(emulator.readContent('demo-bot', 'a.txt')?.toString()).toBe('abc');
  });

  test.each(['https_proxy', 'HTTPS_PROXY'])(
    'of %s is asked for a tunnel to an https address',
    async (name) => {
      const proxy = await startProxy({ refusal: 503 });
      setEnvironment({ [name]: proxy.url });
      const { platform } = connect('https://platform.test', { useProxy: true });
      const failure = failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER));
      expect(failure.kind).toBe('transient');
      expect(proxy.asked).toEqual(['CONNECT platform.test:443']);
    },
  );

  test('of HTTPS_PROXY is not for http addresses', async () => {
    const { emulator } = await start();
    const proxy = await startProxy();
    setEnvironment({ HTTPS_PROXY: proxy.url });
    await store(connect(emulator.baseUrl, { token: emulator.token, useProxy: true }));
    expect(proxy.asked).toEqual([]);
  });

  test.each(['no_proxy', 'NO_PROXY'])('is passed by for the hosts of %s', async (name) => {
    const { emulator } = await start();
    const proxy = await startProxy();
    setEnvironment({ HTTP_PROXY: proxy.url, [name]: 'example.test,127.0.0.1' });
    await store(connect(emulator.baseUrl, { token: emulator.token, useProxy: true }));
    expect(proxy.asked).toEqual([]);
  });

  test('is passed by when none is to be used', async () => {
    const { emulator } = await start();
    const proxy = await startProxy();
    setEnvironment({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
    await store(connect(emulator.baseUrl, { token: emulator.token, useProxy: false }));
    expect(proxy.asked).toEqual([]);
  });

  test.each(['http', 'https'])('that wants a password for %s is named', async (scheme) => {
    const proxy = await startProxy({ refusal: 407 });
    setEnvironment({ [`${scheme}_proxy`]: proxy.url });
    const { platform } = connect(`${scheme}://platform.test`, { useProxy: true });
    expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER))).toEqual({
      kind: 'transient',
      message: `the proxy ${proxy.url} of $${scheme}_proxy requires a user and a password (407); add them to its address: http://USER:PASSWORD@HOST:PORT`,
      notCarriedOut: true,
    });
  });

  test.each([
    ['http', 407],
    ['https', 407],
    ['https', 401],
  ])('that refuses the password for %s (%d) is named without it', async (scheme, refusal) => {
    const proxy = await startProxy({ refusal });
    const { host } = new URL(proxy.url);
    setEnvironment({ [`${scheme}_proxy`]: `http://user:SECRET@${host}` });
    const { platform } = connect(`${scheme}://platform.test`, { useProxy: true });
    expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER)).message).toBe(
      `the proxy http://${host} of $${scheme}_proxy refused the user and the password of its address (${refusal}); correct them`,
    );
  });

  test.each([401, 403])(
    'that refuses a plain request with %d is not taken for the platform',
    async (status) => {
      const proxy = await startProxy({ refusal: status });
      setEnvironment({ HTTP_PROXY: proxy.url });
      const { platform } = connect('http://platform.test', { useProxy: true });
      expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER)).message).toBe(
        `${status}, possibly from the proxy ${proxy.url} of $HTTP_PROXY and not from the platform: check its user and password`,
      );
    },
  );

  test('may be named by host and port alone', async () => {
    const { emulator } = await start();
    const proxy = await startProxy();
    setEnvironment({ HTTP_PROXY: new URL(proxy.url).host });
    await store(connect(emulator.baseUrl, { token: emulator.token, useProxy: true }));
    expect(proxy.asked).toHaveLength(2);
  });

  test.each(['http://joe:s3cr%zzPW@127.0.0.1:9212', 'socks5://127.0.0.1:1080', 'http://joe:s3cr et@:::/'])(
    'of an address that cannot be used is told without it: %s',
    async (address) => {
      setEnvironment({ HTTP_PROXY: address });
      const { platform } = connect('http://platform.test', { useProxy: true });
      const { message } = failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER));
      expect(message).toMatch(/^\$HTTP_PROXY is not an address; write it as/u);
      expect(message).not.toContain('s3cr');
    },
  );

  test('that refuses a tunnel is named', async () => {
    const proxy = await startProxy({ refusal: 403 });
    setEnvironment({ HTTPS_PROXY: proxy.url });
    const { platform } = connect('https://platform.test', { useProxy: true });
    expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER)).message).toBe(
      `the proxy ${proxy.url} of $HTTPS_PROXY refused to connect to the address (403)`,
    );
  });

  test.each(['http', 'https'])('that is not there is named, without its password: for %s', async (scheme) => {
    const { host } = new URL(await closedAddress());
    setEnvironment({ [`${scheme}_proxy`]: `http://user:SECRET@${host}` });
    const { platform } = connect(`${scheme}://platform.test`, { useProxy: true });
    expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER))).toEqual({
      kind: 'transient',
      message: `the proxy http://${host} of $${scheme}_proxy is unreachable: connection refused (ECONNREFUSED)`,
      notCarriedOut: true,
    });
  });

  test('whose name is not known is named', async () => {
    setEnvironment({ http_proxy: 'http://proxy.invalid:3128' });
    const { platform } = connect('http://platform.test', { useProxy: true });
    expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER)).message).toMatch(
      /^the proxy http:\/\/proxy\.invalid:3128 of \$http_proxy is unreachable: host name/u,
    );
  });

  test('that never answers is given up', async () => {
    const { emulator } = await start();
    const server = createServer();
    server.on('connect', (_, socket) => {
      onTestFinished(() => {
        socket.destroy();
      });
    });
    const port = await listenOnFreePort(server);
    onTestFinished(() => {
      server.close();
    });
    setEnvironment({ HTTP_PROXY: `http://127.0.0.1:${port}` });
    const { platform } = connect(emulator.baseUrl, { useProxy: true, stallTimeoutMs: 300 });
    expect(failureIn(await platform.upsert('b', upsertBody('a', 1), NEVER)).kind).toBe('transient');
  });
});
