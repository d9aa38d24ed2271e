import { expect, test } from 'vitest';
import { createSite, run, type Ended, type Site } from './binary.ts';

/** A token that the platform refuses. */
const STALE = 'bp_pat_a-token-that-was-revoked';

const BOTS = [
  { id: 'bot-1', name: 'One' },
  { id: 'bot-2', name: 'Two' },
];

/** A site with a source for each of two bots; the second has a token of its own. */
async function createTwoBots(isOwnFirst = false): Promise<Site> {
  const site = await createSite({}, { bots: BOTS });
  const sources: object[] = [
    { directory: './docs' },
    { directory: './sales', botId: 'bot-2', token: 'file:./sales/.sales-token' },
  ];
  const config = {
    platform: { baseUrl: site.emulator.baseUrl, botId: 'bot-1', token: 'env:SHARED' },
    sources: isOwnFirst ? sources.reverse() : sources,
    // The refusal of one is known before the other is tried.
    upload: { attempts: 1, concurrency: 1 },
  };
  site.write('botsync.config.json', JSON.stringify(config));
  site.write('docs/a.md', 'a');
  site.write('sales/b.md', 'b');
  return site;
}

async function botsync(site: Site, shared: string, own: string, ...args: string[]): Promise<Ended> {
  site.write('sales/.sales-token', own);
  const ended = await run(site.directory, args, { SHARED: shared });
  expect(ended.stdout + ended.stderr).not.toContain(STALE);
  return ended;
}

const keys = (site: Site, bot: string): string[] => site.emulator.listFiles(bot).map(({ key }) => key);

test.each([
  ['the shared token is', true, [], ['b.md']],
  ['the token of a source is', false, ['a.md'], []],
] as const)('when %s refused, the other bot is served', async (_, isShared, first, second) => {
  const site = await createTwoBots(!isShared);
  const { token } = site.emulator;
  const [shared, own] = isShared ? [STALE, token] : [token, STALE];
  const ended = await botsync(site, shared, own, 'sync', '--once', '--no-wait');
  expect(ended).toMatchObject({ code: 4 });
  expect(ended.stderr).toContain('check platform.token, the tokens of the sources');
  expect(keys(site, 'bot-1')).toEqual(first);
  expect(keys(site, 'bot-2')).toEqual(second);
});

test('sources with tokens of their own need no platform.token', async () => {
  const site = await createTwoBots();
  const { baseUrl, token } = site.emulator;
  const sources = [{ directory: './docs', botId: 'bot-1', token: 'env:ONE' }];
  site.write('botsync.config.json', JSON.stringify({ platform: { baseUrl }, sources }));
  expect(await run(site.directory, ['sync', '--once'], { ONE: token })).toMatchObject({ code: 0 });
  const missing = await run(site.directory, ['sync', '--once'], {});
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain('sources[0].token: the environment variable ONE is not set');
});

test('doctor names the token that is refused, and its place', async () => {
  const site = await createTwoBots();
  const { code, stdout } = await botsync(site, site.emulator.token, STALE, 'doctor');
  expect(code).toBe(4);
  expect(stdout).toMatch(/ok +token +the platform accepts it for the files of bot bot-1/u);
  expect(stdout).toMatch(/check sources\[1\]\.token \(from .+\/sales\/\.sales-token\)/u);
});

test('a file with the token of a source is never sent', async () => {
  const site = await createTwoBots();
  const config = JSON.parse(
    JSON.stringify({
      platform: { baseUrl: site.emulator.baseUrl, botId: 'bot-1', token: 'env:SHARED' },
      sources: [{ directory: './sales', token: 'file:./sales/token.txt' }],
    }),
  ) as object;
  site.write('botsync.config.json', JSON.stringify(config));
  site.write('sales/token.txt', site.emulator.token);
  expect(await run(site.directory, ['sync', '--once'], {})).toMatchObject({ code: 0 });
  expect(keys(site, 'bot-1')).toEqual(['b.md']);
});

test('two tokens for one bot are an error of the configuration', async () => {
  const site = await createTwoBots();
  const config = {
    platform: { botId: 'bot-1', token: 'env:SHARED' },
    sources: [{ directory: './docs' }, { directory: './sales', token: 'env:OTHER' }],
  };
  site.write('botsync.config.json', JSON.stringify(config));
  const { code, stderr } = await run(site.directory, ['sync', '--once'], {});
  expect(code).toBe(2);
  expect(stderr).toContain('sources[1].token: differs from that of sources[0], which is of the same bot');
});
