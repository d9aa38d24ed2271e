import { expect, test } from 'vitest';
import type { FaultAction } from '../../src/emulator/faults.ts';
import { createSite, type Ended, type Site } from '../cli/binary.ts';
import { launchAtOnce, POLL, remote, says } from '../cli/running-daemon.ts';
import { listen } from '../platform/fixture.ts';
import { openEncryptedGate } from './gate.ts';
import { expectNoSecrets } from './secrets.ts';

const FIELDS = { upload: { attempts: 2, concurrency: 1, stallTimeout: '1s', giveUpAfter: '2s' } };

function expectClean({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>, site: Site): void {
  expectNoSecrets(`${stdout}\n${stderr}`, site.emulator);
}

test.each<['upsert' | 'upload', FaultAction, number, string]>([
  ['upsert', { kind: 'status', status: 401, message: 'said to TOKEN' }, 4, '401 Unauthorized: said to ***'],
  ['upsert', { kind: 'status', status: 500, message: 'said to TOKEN' }, 3, '500 Internal: said to ***'],
  ['upsert', { kind: 'hang' }, 3, 'no answer within upload.stallTimeout'],
  ['upsert', { kind: 'garbage' }, 3, '200 with an unexpected answer'],
  ['upload', { kind: 'apply-then-drop' }, 3, 'connection lost'],
  ['upload', { kind: 'status', status: 403 }, 3, 'the upload address answered 403'],
])('sync --once meets %s: %j', async (operation, action, code, words) => {
  const site = await createSite(FIELDS);
  site.write('docs/a.md', 'a');
  const told = JSON.parse(JSON.stringify(action).replace('TOKEN', site.emulator.token)) as FaultAction;
  site.emulator.faults.add({ operation, times: Infinity, key: 'a.md', ...told });
  const struck = await site.sync();
  expect(struck.code).toBe(code);
  expect(struck.lines().find(({ path }) => path === 'a.md')).toMatchObject({
    outcome: 'failed',
    error: expect.stringContaining(words) as string,
  });
  expectClean(struck, site);
  site.emulator.faults.clear();
  expect(await site.sync()).toMatchObject({ code: 0 });
  expect(remote(site, 'a.md')).toBe('a');
});

test('sync --once goes nowhere with a redirect, and nowhere without a certificate that it trusts', async () => {
  let strayed = 0;
  const elsewhere = await listen((message, response) => {
    strayed += 1;
    message.resume();
    response.end('{}');
  });
  const gate = await openEncryptedGate();
  try {
    const site = await createSite(FIELDS);
    site.write('docs/a.md', 'a');
    for (const operation of ['upsert', 'upload']) {
      site.emulator.faults.add({ operation, kind: 'redirect', location: elsewhere.url, times: Infinity });
      const struck = await site.sync();
      expect(struck).toMatchObject({ code: 3, stdout: expect.stringMatching(/"307: redirected/u) as string });
      expectClean(struck, site);
      site.emulator.faults.clear();
    }
    expect(strayed).toBe(0);
    gate.leadTo(site.emulator.baseUrl);
    const before = site.emulator.counts.get('upsert');
    site.write(
      'botsync.config.json',
      JSON.stringify({
        ...FIELDS,
        platform: { botId: 'bot-1', baseUrl: gate.url, token: 'env:BOTSYNC_TOKEN' },
        sources: [{ directory: './docs' }],
      }),
    );
    const distrusting = await site.sync();
    expect(distrusting.code).toBe(3);
    expect(distrusting.stdout).toContain('its certificate is not trusted (');
    expectClean(distrusting, site);
    expect(site.emulator.counts.get('upsert')).toBe(before);
  } finally {
    await gate.shut();
    await elsewhere.close();
  }
});

test.each<[string, FaultAction, string]>([
  ['401', { kind: 'status', status: 401 }, '401 Unauthorized'],
  ['503', { kind: 'status', status: 503 }, '503 Unknown'],
])('the daemon outlives %s and sends everything once it is asked to try again', async (_, action, words) => {
  const site = await createSite(FIELDS);
  site.write('docs/a.md', 'a');
  site.emulator.faults.add({ operation: 'upsert', times: Infinity, ...action });
  const daemon = launchAtOnce(site);
  await expect.poll(() => JSON.stringify(daemon.log()).includes(words), POLL).toBe(true);
  site.emulator.faults.clear();
  daemon.child.kill('SIGHUP');
  await expect.poll(() => remote(site, 'a.md'), POLL).toBe('a');
  await expect.poll(() => says(daemon, 'reloaded'), POLL).toBe(true);
  daemon.child.kill('SIGTERM');
  const ended = await daemon.ended;
  expect(ended.code).toBe(0);
  expectClean(ended, site);
});
