import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openState } from '../../src/store/open.ts';
import { createChatSite, type ChatSite } from './chat-site.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
}

/** What doctor says of operations and usage, as lines. */
async function examine(site: ChatSite): Promise<{ code: number | null; lines: string[]; counts: string[] }> {
  const before = new Map(site.emulator.counts);
  const outcome = await site.botsync('doctor', '--json');
  const found = outcome.lines()[0] as unknown as Finding[];
  expect(outcome.stdout + outcome.stderr).not.toContain(site.emulator.token);
  const counts = [...site.emulator.counts].filter(([name, count]) => count !== before.get(name));
  return {
    code: outcome.code,
    lines: found
      .filter(({ check }) => check === 'operations' || check === 'usage')
      .map(({ check, status, message }) => `${status} ${check} ${message}`),
    counts: counts.map(([name]) => name).sort(),
  };
}

const ALL =
  'ok operations bot-1: served: list, get, search, passages; not tried, because they change files: update, delete';

test('doctor lists what each bot is served, what is used and allowed, and what a pass would add', async () => {
  const site = await createChatSite({
    bots: ['bot-1', 'bot-2'].map((id) => ({ id, name: id })),
    quotas: { fileStorageBytes: 100, vectorStorageBytes: 50, indexedFiles: 7 },
  });
  site.write('docs/a.md', 'alpha');
  site.write('more/b.md', 'beta');
  const sources = [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }];
  site.configure({}, { sources, rules: [{ match: ['a.md'], index: true }] });
  const { code, lines } = await examine(site);
  expect(code).toBe(0);
  expect(lines).toEqual([
    ALL,
    ALL.replace('bot-1', 'bot-2'),
    'ok usage storage: 0 of 100 used; to add: 9',
    'ok usage vector storage: 0 of 50 used; to add: 5',
    'ok usage indexed files: 0 of 7 used; to add: 1',
    'ok usage largest file: 0, 1,000,000,000 allowed; to send: 5',
  ]);
});

test('doctor warns of what the next pass would go over', async () => {
  const site = await createChatSite({ quotas: { fileStorageBytes: 4 } });
  site.write('docs/a.md', 'alpha');
  const { code, lines } = await examine(site);
  expect(code).toBe(0);
  expect(lines.at(-1)).toBe(
    'warn usage the quota of storage may not suffice: 5 would be added to 0, and the platform allows 4; no file is held back because of this',
  );
});

test('doctor says what is lost without the operations that a platform does not serve', async () => {
  const site = await createChatSite({ operations: 'specified' });
  site.write('docs/a.md', 'alpha');
  const { code, lines } = await examine(site);
  expect(code).toBe(0);
  const no = (operation: string, loss: string) =>
    expect.stringMatching(
      new RegExp(
        `^warn operations bot-1: ${operation} is not served, so ${loss}: the platform does not serve`,
        'u',
      ),
    ) as string;
  expect(lines).toEqual([
    'ok operations bot-1: not tried, because they change files: update, delete',
    no('list', "uploads cannot be confirmed, and the bot's files cannot be verified"),
    no('get', 'deleted files cannot be checked first, and expire instead'),
    no('search', 'search does not work'),
    no('passages', 'passages cannot be shown'),
    expect.stringMatching(/^warn usage quotas could not be fetched: the platform does not serve/u),
  ]);
});

test('what the token may not do, or cannot be asked now, is told apart', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  site.configure({}, { upload: { attempts: 1 } });
  site.emulator.faults.add({ operation: 'search-files', kind: 'status', status: 403, times: Infinity });
  site.emulator.faults.add({ operation: 'list-files', kind: 'status', status: 503, times: Infinity });
  const { code, lines } = await examine(site);
  expect(code).toBe(0);
  expect(lines.slice(0, 3)).toEqual([
    'ok operations bot-1: served: get, passages; not tried, because they change files: update, delete',
    expect.stringMatching(/^warn operations bot-1: list could not be looked up: 503/u),
    expect.stringMatching(
      /^warn operations bot-1: search is not served, so .*: the token of platform\.token may not/u,
    ),
  ]);
});

test('update and delete are told from memory, and never tried', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  await site.sync();
  const file = join(site.directory, '.botsync/state.db');
  const opened = openState(file, { checkThoroughly: false, nowMs: Date.now() });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const target = { baseUrl: site.emulator.baseUrl, botId: 'bot-1', identity: '{}' };
  const unserved = {
    reason: 'the platform does not serve it',
    askedAtMs: Date.now() - 7_200_000,
    isByToken: false,
  };
  opened.store.remote.noteUnserved(opened.store.targetId(target), 'delete', unserved);
  opened.store.close();
  const { lines, counts } = await examine(site);
  expect(lines.slice(0, 2)).toEqual([
    'ok operations bot-1: served: list, get, search, passages; not tried, because they change files: update',
    'warn operations bot-1: delete is not served, so deleted files expire instead: the platform does not serve it (a sync found that 2 hours ago)',
  ]);
  expect(counts).not.toContain('update-file');
  expect(counts).not.toContain('delete-file');
});

test('with "specified" none is used, and none is asked for', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  site.configure({ operations: 'specified' });
  const { code, lines, counts } = await examine(site);
  expect(code).toBe(0);
  expect(lines).toEqual([
    'ok operations platform.operations is "specified": only the five specified operations are used',
  ]);
  expect(counts).toEqual(['list-bots']);
});

test('without a workspace operations are asked for, and usage is not', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  site.configure({ workspaceId: undefined });
  expect((await examine(site)).lines).toEqual([ALL]);
});

test('a token that is refused is not tried again and again', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  site.emulator.faults.add({ operation: 'list-bots', kind: 'status', status: 401, times: Infinity });
  const { code, lines, counts } = await examine(site);
  expect(code).toBe(4);
  expect(lines).toEqual([]);
  expect(counts).toEqual(['list-bots']);
});
