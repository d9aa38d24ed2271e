import { createServer as createHttpsServer } from 'node:https';
import { request as httpRequest } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closedAddress } from '../platform/fixture.ts';
import { startProxy, type ProxyOptions, type TestProxy } from '../proxy.ts';
import { TRUSTED_CERTIFICATE_FILE, TRUSTED_IDENTITY } from '../tls/identity.ts';
import { createSite, run, start, type Ended, type Site } from './binary.ts';

const UNSET = Object.fromEntries(
  ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [
    [name, ''],
    [name.toUpperCase(), ''],
  ]),
);
const TRUST = { NODE_EXTRA_CA_CERTS: TRUSTED_CERTIFICATE_FILE };
const hasIpv6 = await canListen('::1');

/** A site whose platform is at an address of this scheme. */
interface NetworkSite extends Omit<Site, 'sync'> {
  readonly url: string;
  readonly sync: (env: Record<string, string>) => Promise<Ended>;
}

async function createNetworkSite(scheme: 'http' | 'https', host = '127.0.0.1'): Promise<NetworkSite> {
  const site = await createSite({}, { host });
  const url = scheme === 'http' ? site.emulator.baseUrl : await encrypt(site.emulator.baseUrl, host);
  const config = {
    platform: { botId: 'bot-1', baseUrl: url, token: 'env:BOTSYNC_TOKEN' },
    sources: [{ directory: './docs' }],
    upload: { giveUpAfter: '1s' },
  };
  site.write('botsync.config.json', JSON.stringify(config));
  site.write('docs/a.txt', 'alpha');
  const sync = (env: Record<string, string>): Promise<Ended> =>
    run(site.directory, ['sync', '--once'], { ...UNSET, ...site.env, ...env });
  return { ...site, url, sync };
}

/** Serves a platform over TLS; the upload addresses in its answers lead here as well. */
async function encrypt(platform: string, host: string): Promise<string> {
  const server = createHttpsServer(TRUSTED_IDENTITY, (message, response) => {
    const { method, headers } = message;
    const onward = httpRequest(`${platform}${message.url ?? ''}`, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => {
        const body = Buffer.from(text.replaceAll(platform, url));
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'content-length': body.length });
        response.end(body);
      });
    });
    onward.on('error', () => response.destroy());
    message.once('close', () => {
      if (!message.complete) onward.destroy();
    });
    message.pipe(onward);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return url;
}

function canListen(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(0, host, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

const contentOf = ({ emulator }: NetworkSite): string | undefined =>
  emulator.readContent('bot-1', 'a.txt')?.toString();

/** The address of a proxy with these credentials. */
const withCredentials = ({ url }: TestProxy, credentials: string): string =>
  url.replace('//', `//${credentials}@`);

describe.each(['http', 'https'] as const)('an %s platform', (scheme) => {
  const variable = `${scheme}_proxy`;

  async function expectToPass(
    site: NetworkSite,
    proxy: TestProxy,
    env: Record<string, string>,
  ): Promise<void> {
    const { code, stdout, stderr } = await site.sync({ ...TRUST, ...env });
    expect(stderr).not.toContain('defect');
    expect(stdout).toMatch(/^In sync: 1 uploaded/u);
    expect(code).toBe(0);
    expect(contentOf(site)).toBe('alpha');
    expect(proxy.asked).not.toEqual([]);
    const { host } = new URL(site.url);
    // Many proxies tunnel to port 443 alone; through a proxy over TLS undici always tunnels.
    const isTunnel = scheme === 'https' || proxy.url.startsWith('https:');
    for (const line of proxy.asked)
      if (isTunnel) expect(line).toBe(`CONNECT ${host}`);
      else expect(line.split(' ')[1]?.startsWith(`http://${host}/`)).toBe(true);
  }

  test.each<[string, ProxyOptions, string]>([
    ['a proxy', {}, variable.toUpperCase()],
    ['a proxy in a lower-case variable', {}, variable],
    ['a proxy over TLS', { scheme: 'https' }, variable.toUpperCase()],
    ['a proxy with a password', { credentials: 'joe:p@ss' }, variable.toUpperCase()],
  ])('is reached through %s', async (_, options, name) => {
    const site = await createNetworkSite(scheme);
    const proxy = await startProxy(options);
    await expectToPass(site, proxy, {
      [name]: options.credentials === undefined ? proxy.url : withCredentials(proxy, 'joe:p%40ss'),
    });
  });

  test.runIf(hasIpv6)('is reached over IPv6, with and without a proxy', async () => {
    const site = await createNetworkSite(scheme, '::1');
    const proxy = await startProxy({ host: '::1' });
    await expectToPass(site, proxy, { [variable]: proxy.url });
    const before = proxy.asked.length;
    site.write('docs/a.txt', 'beta');
    expect((await site.sync({ ...TRUST, [variable]: proxy.url, NO_PROXY: 'localhost,::1' })).code).toBe(0);
    expect([contentOf(site), proxy.asked.length]).toEqual(['beta', before]);
  });

  test('is reached directly where NO_PROXY names it', async () => {
    const site = await createNetworkSite(scheme);
    const proxy = await startProxy();
    const env = { ...TRUST, [variable]: proxy.url, NO_PROXY: 'example.com,127.0.0.1' };
    expect((await site.sync(env)).code).toBe(0);
    expect([contentOf(site), proxy.asked]).toEqual(['alpha', []]);
  });

  test('is reached through a proxy that restarts in the middle of a pass', async () => {
    const site = await createNetworkSite(scheme);
    const content = Buffer.alloc(3_000_000, 'x');
    for (let n = 0; n < 4; n += 1) site.write(`docs/large-${n}.txt`, content);
    await site.emulator.conditions.set({ kind: 'slow-store', bytesPerSecond: 100_000 });
    const proxy = await startProxy();
    const pass = start(site.directory, ['sync', '--once'], {
      ...UNSET,
      ...site.env,
      ...TRUST,
      [variable]: proxy.url,
    });
    await expect.poll(() => site.emulator.counts.get('upload') ?? 0, { timeout: 20_000 }).toBeGreaterThan(1);
    await site.emulator.conditions.clear();
    await proxy.restart();
    const { code, stdout, stderr } = await pass.ended;
    expect(stderr).toContain('connection lost');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^In sync: 5 uploaded/u)]);
    for (let n = 0; n < 4; n += 1)
      expect(site.emulator.readContent('bot-1', `large-${n}.txt`)?.equals(content)).toBe(true);
  });

  test('is not reached with a wrong password of the proxy: said without it', async () => {
    const site = await createNetworkSite(scheme);
    const proxy = await startProxy({ credentials: 'joe:right' });
    const { code, stdout, stderr } = await site.sync({ [variable]: withCredentials(proxy, 'joe:wr0ng') });
    expect(stdout).toContain(
      `the proxy ${proxy.url} of $${variable} refused the user and the password of its address (407)`,
    );
    expect(stdout + stderr).not.toContain('wr0ng');
    expect(code).toBe(3);
  });

  test('is not reached through a proxy that is not there', async () => {
    const site = await createNetworkSite(scheme);
    const url = await closedAddress();
    const { code, stdout } = await site.sync({ [variable]: url });
    expect(stdout).toContain(`the proxy ${url} of $${variable} is unreachable: connection refused`);
    expect(code).toBe(3);
  });
});

test('a certificate of an own authority is trusted where NODE_EXTRA_CA_CERTS names it', async () => {
  const site = await createNetworkSite('https');
  const distrustful = await site.sync({});
  expect(distrustful.stdout).toContain('its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)');
  expect(distrustful.code).toBe(3);
  expect((await site.sync(TRUST)).code).toBe(0);
  expect(contentOf(site)).toBe('alpha');
});

test('through a proxy as well, the certificate must be for the host', async () => {
  const site = await createNetworkSite('https');
  const proxy = await startProxy();
  const { port } = new URL(site.url);
  const config = {
    platform: { botId: 'bot-1', baseUrl: `https://other.test:${port}`, token: 'env:BOTSYNC_TOKEN' },
    sources: [{ directory: './docs' }],
    upload: { giveUpAfter: '1s' },
  };
  site.write('botsync.config.json', JSON.stringify(config));
  const { code, stdout } = await site.sync({ ...TRUST, https_proxy: proxy.url });
  expect(stdout).toContain('its certificate is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)');
  expect(code).toBe(3);
});
