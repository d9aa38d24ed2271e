import { describe, expect, test } from 'vitest';
import { createChatSite, type ChatSite } from './chat-site.ts';
import { converse, hasTerminal } from './terminal.ts';

const RULES = { rules: [{ match: ['*.md'], index: true }] };

async function createFullSite(quotas: object, platform: object = {}): Promise<ChatSite> {
  const site = await createChatSite({
    recordRequests: true,
    quotas: { fileStorageBytes: 100, vectorStorageBytes: 50, indexedFiles: 2, ...quotas },
  });
  site.configure(platform, RULES);
  return site;
}

const USAGE = [
  "Usage, in the platform's units:",
  '  storage: 5 of 100 used; to add: 9',
  '  vector storage: 5 of 50 used; to add: 3',
  '  indexed files: 1 of 2 used; to add: 1',
  '  largest file: 5, 1,000,000,000 allowed; to send: 6',
];

test('the dry run and a pass show what is used, allowed, and would be added', async () => {
  const site = await createFullSite({});
  site.write('docs/a.md', 'alpha');
  await site.sync();
  site.write('docs/b.md', 'new');
  site.write('docs/c.txt', 'plain!');
  const planned = await site.botsync('sync', '--dry-run', '--usage');
  expect(planned).toMatchObject({ code: 0, stderr: '' });
  expect(planned.stdout).toContain(`${USAGE.join('\n')}\nDry run, nothing was sent: 2 to upload`);
  const json = await site.botsync('sync', '--dry-run', '--usage', '--json');
  expect(json.lines().at(-2)).toEqual({
    kind: 'usage',
    storage: { used: 5, allowed: 100, added: 9 },
    vectorStorage: { used: 5, allowed: 50, added: 3 },
    indexedFiles: { used: 1, allowed: 2, added: 1 },
    largestFile: { used: 5, allowed: 1_000_000_000, added: 6 },
  });
  expect(json.lines().at(-1)).toMatchObject({ kind: 'summary', uploaded: 2 });
  const upserts = site.emulator.counts.get('upsert');
  const made = await site.botsync('sync', '--once', '--usage');
  expect(made.code).toBe(0);
  expect(made.stdout.split('\n').slice(0, 5)).toEqual(USAGE);
  expect(site.emulator.counts.get('upsert')).toBe((upserts ?? 0) + 2);
});

test('what goes over is said before the pass starts, and nothing is held back by botsync', async () => {
  const site = await createFullSite({ fileStorageBytes: 8, indexedFiles: 1 });
  site.write('docs/a.md', 'alpha');
  await site.sync();
  site.write('docs/b.md', 'new');
  site.write('docs/c.md', 'file');
  const before = site.emulator.requests.length;
  const made = await site.botsync('sync', '--once', '--usage');
  expect(made.stderr).toContain(
    'the quota of storage may not suffice: 7 would be added to 5, and the platform allows 8; no file is held back because of this',
  );
  expect(made.stderr).toContain(
    'the quota of indexed files may not suffice: 2 would be added to 1, and the platform allows 1; no file is held back because of this',
  );
  const asked = site.emulator.requests.slice(before).map(({ operation }) => operation);
  expect(asked.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => 'get-usage'));
  expect(asked).toContain('upsert');
  const planned = await site.botsync('sync', '--dry-run', '--usage');
  expect(planned.stderr).toContain('the quota of storage may not suffice');
});

test('without --usage nothing is asked; status shows it when told to', async () => {
  const site = await createFullSite({});
  site.write('docs/a.md', 'alpha');
  await site.sync();
  for (const args of [['sync', '--once'], ['sync', '--dry-run'], ['status'], ['status', '--json']])
    expect((await site.botsync(...args)).code, args.join(' ')).toBe(0);
  expect(site.emulator.counts.get('get-usage') ?? 0).toBe(0);
  const status = await site.botsync('status', '--usage');
  expect(status).toMatchObject({ code: 0, stderr: '' });
  expect(status.stdout).toContain(
    "\nUsage, in the platform's units:\n  storage: 5 of 100 used\n  vector storage: 5 of 50 used\n  indexed files: 1 of 2 used\n",
  );
  const json = await site.botsync('status', '--usage', '--json');
  expect(json.lines()[0]).toMatchObject({ usage: { storage: { used: 5, allowed: 100 } } });
});

test('a platform that does not tell is no obstacle, and a configuration without what it takes is', async () => {
  const site = await createFullSite({});
  site.write('docs/a.md', 'alpha');
  site.emulator.faults.add({ operation: 'get-usage', kind: 'status', status: 403, times: Infinity });
  const why = /quotas could not be fetched: the token of platform\.token may not do this: 403/u;
  for (const args of [['sync', '--dry-run'], ['sync', '--once'], ['status']]) {
    const outcome = await site.botsync(...args, '--usage');
    expect(outcome.code, args.join(' ')).toBe(0);
    expect(outcome.stderr).toMatch(why);
  }
  expect((await site.botsync('status', '--usage', '--json')).lines()[0]).toMatchObject({ usage: null });
  for (const [platform, said] of [
    [{ operations: 'specified' }, /^platform\.operations is "specified"/u],
    [{ workspaceId: undefined }, /platform\.workspaceId: is missing/u],
  ] as const) {
    site.configure(platform, RULES);
    for (const args of [['sync', '--dry-run'], ['sync', '--once'], ['status']]) {
      const refused = await site.botsync(...args, '--usage');
      expect(refused.code, args.join(' ')).toBe(2);
      expect(refused.stderr).toMatch(said);
    }
  }
  expect(await site.botsync('sync', '--usage')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--usage needs --once or --dry-run') as string,
  });
});

describe.runIf(hasTerminal)('on a terminal', () => {
  const WARNING = 'the quota of storage may not suffice: 7 would be added to 5, and the platform allows 6';

  test('a pass warns by itself of what goes over, but neither the first nor one that sends nothing asks', async () => {
    const site = await createFullSite({ fileStorageBytes: 6 });
    const pass = () => converse(site.directory, ['sync', '--once'], site.env, []);
    site.write('docs/a.md', 'alpha');
    expect((await pass()).screen).not.toContain('quota');
    expect((await pass()).screen).toContain('nothing had to be sent');
    expect(site.emulator.counts.get('get-usage') ?? 0).toBe(0);
    site.write('docs/b.txt', 'another');
    // The pass is still under way when the count has ended.
    site.emulator.faults.add({ operation: 'upsert', kind: 'delay', delayMs: 3000, times: 1 });
    expect((await pass()).screen).toContain(WARNING);
    expect(site.emulator.counts.get('get-usage')).toBe(4);
  });
});
