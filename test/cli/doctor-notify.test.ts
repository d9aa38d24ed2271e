import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from './binary.ts';
import { createChatSite, type ChatSite } from './chat-site.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix: string | null;
}

const CREATED = { conversation: { channel: 'channel', integration: { name: 'webchat' } } };

async function site(notify: object | undefined, platform: object = {}): Promise<ChatSite> {
  const made = await createChatSite();
  made.write('docs/a.md', 'x');
  made.configure(platform, { notify });
  return made;
}

/** What doctor says of `notify`, and how it ends. */
async function examine(
  made: ChatSite,
  ...args: string[]
): Promise<{ code: number | null; found: Finding[] }> {
  const { code, lines, stderr } = await made.botsync('doctor', '--json', ...args);
  expect(stderr).toBe('');
  const found = lines()[0] as unknown as Finding[];
  expect(JSON.stringify(found)).not.toContain(made.emulator.userKey);
  return { code, found: found.filter(({ check }) => check === 'notify') };
}

function told({ emulator }: ChatSite): unknown[] {
  return emulator.listConversations('bot-1').flatMap(({ id }) => emulator.listMessages(id));
}

test('doctor looks whether people could be told, and tells nobody', async () => {
  const made = await site(CREATED);
  expect(await examine(made)).toMatchObject({
    code: 0,
    found: [{ status: 'ok', message: expect.stringContaining('created with the first message') as string }],
  });
  expect(made.emulator.listConversations('bot-1')).toEqual([]);
  expect(existsSync(join(made.directory, '.botsync'))).toBe(false);
});

test('doctor --send-test sends one message, and what it created is used from then on', async () => {
  const made = await site(CREATED);
  const { code, found } = await examine(made, '--send-test');
  const [conversation] = made.emulator.listConversations('bot-1');
  expect(code).toBe(0);
  expect(found).toMatchObject([
    { status: 'ok', message: expect.stringContaining(conversation?.id ?? '?') as string },
  ]);
  expect(told(made)).toMatchObject([
    { payload: { type: 'text', text: expect.stringMatching(/^botsync on .+: this is a test/u) as string } },
  ]);
  expect((await examine(made)).found[0]?.message).toContain(conversation?.id);
  // Beside a daemon as well.
  const daemon = start(made.directory, ['sync', '--log-format', 'json'], made.env);
  let log = '';
  daemon.child.stderr?.on('data', (chunk: string) => (log += chunk));
  await expect.poll(() => log).toContain('"trigger":"start"');
  expect((await examine(made, '--send-test')).code).toBe(0);
  expect(told(made)).toHaveLength(2);
  expect(made.emulator.listConversations('bot-1')).toHaveLength(1);
});

test('doctor --send-test with --emulator tells the emulator', async () => {
  const made = await site({ conversationId: 'conv_real' });
  expect((await examine(made, '--emulator', '--send-test')).code).toBe(0);
  expect(made.emulator.counts.size).toBe(0);
});

test.each<[string, object | undefined, object, string[], number, Partial<Finding>]>([
  [
    'no notify',
    undefined,
    {},
    ['--send-test'],
    3,
    { status: 'fail', fix: 'add "notify" to the configuration' },
  ],
  [
    'no chat',
    { conversationId: 'c' },
    { chat: undefined },
    [],
    3,
    { status: 'fail', message: expect.stringContaining('platform.chat: is missing') as string },
  ],
  [
    'a user key that is not set',
    { conversationId: 'c' },
    { chat: { webhookId: 'w', userKey: 'env:NO_SUCH_VARIABLE' } },
    [],
    3,
    { status: 'fail', message: expect.stringContaining('NO_SUCH_VARIABLE is not set') as string },
  ],
  [
    'a channel that is missing',
    { conversation: { channel: 'phone', integration: { name: 'webchat' } } },
    {},
    [],
    3,
    { status: 'fail', message: expect.stringContaining('no channel "phone"; it has "channel"') as string },
  ],
  [
    'a conversation that is not there',
    { conversationId: 'nowhere' },
    {},
    ['--send-test'],
    3,
    { status: 'fail', message: expect.stringContaining('404') as string },
  ],
])('doctor meets %s', async (_, notify, platform, args, code, finding) => {
  const made = await site(notify, platform);
  const outcome = await examine(made, ...args);
  expect(outcome.found).toContainEqual(expect.objectContaining(finding));
  expect(outcome.code).toBe(code);
  expect(told(made)).toEqual([]);
});

test('a user who takes no part in the conversation is told of as such', async () => {
  const made = await site(CREATED);
  made.emulator.faults.add({ operation: 'create-message', kind: 'status', status: 403, type: 'Forbidden' });
  const { code, found } = await examine(made, '--send-test');
  expect(code).toBe(3);
  expect(found[0]?.message).toContain('may not be a participant of the conversation');
});
