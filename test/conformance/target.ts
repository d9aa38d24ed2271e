import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as ChatClient } from '@botpress/chat';
import { startEmulator } from '../../src/emulator/emulator.ts';

/** A platform that the cases run against. */
export interface Target {
  /** Without trailing slashes. */
  readonly baseUrl: string;
  readonly chatUrl: string;
  readonly token: string;
  readonly workspaceId: string;
  readonly botId: string;
  /** Null where there is no chat. */
  readonly chat: { readonly webhookId: string; readonly userKey: string } | null;
  /** An integration that is in the hub. */
  readonly integration: string;
  /** What conversations are created with. */
  readonly conversation: { readonly channel: string; readonly integrationName?: string };
  readonly close: () => Promise<void>;
}

/** A way to a target: its name, and what opens it before the cases run. */
export interface TargetChoice {
  readonly name: string;
  readonly open: () => Promise<Target>;
}

/** The emulator always; a live platform when BOTSYNC_LIVE_TOKEN is set, but never where CI is. See test/conformance/README.md. */
export function chooseTargets(): TargetChoice[] {
  const emulator = { name: 'the emulator', open: openEmulator };
  const { BOTSYNC_LIVE_TOKEN: token, CI: ci } = process.env;
  if (token === undefined || ci !== undefined) return [emulator];
  const live = readLive(token);
  return [emulator, { name: 'a live platform', open: () => openLive(live) }];
}

async function openEmulator(): Promise<Target> {
  const dataDir = mkdtempSync(join(tmpdir(), 'botsync-conformance-'));
  const emulator = await startEmulator({
    dataDir,
    bots: ['b1', 'b2', 'b3', 'b4', 'b5'].map((id) => ({ id, name: `Bot ${id}` })),
    integrations: [{ name: '@botsync/some integration', version: '1.2.3' }],
    // So that every list has several pages.
    pageSize: 2,
  });
  const { baseUrl, chatUrl, token, workspaceId, webhookId, userKey } = emulator;
  return {
    baseUrl,
    chatUrl,
    token,
    workspaceId,
    botId: 'b1',
    chat: { webhookId, userKey },
    integration: '@botsync/some integration',
    conversation: { channel: 'channel' },
    close: async () => {
      await emulator.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** What the environment says of a live platform; throws when something is missing. */
function readLive(token: string): Omit<Target, 'chat' | 'close'> & {
  readonly webhookId: string | undefined;
  readonly userKey: string | undefined;
} {
  const optional = (name: string): string | undefined => process.env[`BOTSYNC_LIVE_${name}`];
  const needed = (name: string): string => {
    const value = optional(name);
    if (value === undefined) throw new Error(`set BOTSYNC_LIVE_${name} as well, or unset BOTSYNC_LIVE_TOKEN`);
    return value;
  };
  const integrationName = optional('INTEGRATION_NAME');
  return {
    baseUrl: optional('BASE_URL') ?? 'https://api.botpress.cloud',
    chatUrl: optional('CHAT_URL') ?? 'https://chat.botpress.cloud',
    token,
    workspaceId: needed('WORKSPACE_ID'),
    botId: needed('BOT_ID'),
    webhookId: optional('WEBHOOK_ID'),
    userKey: optional('USER_KEY'),
    integration: optional('INTEGRATION') ?? 'webchat',
    conversation: {
      channel: optional('CHANNEL') ?? 'channel',
      ...(integrationName !== undefined && { integrationName }),
    },
  };
}

async function openLive({ webhookId, userKey, ...live }: ReturnType<typeof readLive>): Promise<Target> {
  const key = webhookId === undefined ? '' : (userKey ?? (await createUser(`${live.chatUrl}/${webhookId}`)));
  return {
    ...live,
    chat: webhookId === undefined ? null : { webhookId, userKey: key },
    close: () => Promise.resolve(),
  };
}

async function createUser(apiUrl: string): Promise<string> {
  const { key } = await new ChatClient({ apiUrl }).createUser({});
  return key;
}
