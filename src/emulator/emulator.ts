import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import {
  describeConversation,
  describeMessage,
  type ConversationResource,
  type MessageResource,
} from './chat-resources.ts';
import { Conditions } from './conditions.ts';
import { Faults } from './faults.ts';
import { describeSized, type SizedFile } from './file-resource.ts';
import { createHandler, type Handler } from './handler.ts';
import { resolveSettings, type EmulatorBot, type EmulatorOptions, type Settings } from './options.ts';
import { Platform } from './platform.ts';
import { hasContent } from './stored-file.ts';
import type { RecordedRequest } from './request-log.ts';

/** A file as `Emulator.listFiles` shows it; `size` is what the upsert said, `content` null until every byte has arrived. */
export interface ListedFile extends SizedFile {
  readonly content: { readonly path: string; readonly size: number } | null;
}

/** A running emulator. */
export interface Emulator {
  /** The main address, without a trailing slash. */
  readonly baseUrl: string;
  /** The address of the chat interface; the webhook id follows it. */
  readonly chatUrl: string;
  readonly token: string;
  readonly workspaceId: string;
  readonly bots: readonly EmulatorBot[];
  readonly webhookId: string;
  /** The key of a chat user that takes part in every conversation created through the main address. */
  readonly userKey: string;
  readonly dataDir: string;
  readonly faults: Faults;
  readonly conditions: Conditions;
  /** The latest requests, oldest first, in the order of their arrival; empty unless `recordRequests` is set. */
  readonly requests: readonly RecordedRequest[];
  /** Requests by operation since the start; those for the page are not counted. */
  readonly counts: ReadonlyMap<string, number>;
  /** The files of a bot in the order of their keys. */
  listFiles(botId: string): ListedFile[];
  /** The content of a file, null when it has none. Without `integrationId`: a file of the bot itself. */
  readContent(botId: string, key: string, integrationId?: string): Buffer | null;
  /** The conversations of a bot, the oldest first. */
  listConversations(botId: string): ConversationResource[];
  /** The messages of a conversation, the oldest first. */
  listMessages(conversationId: string): MessageResource[];
  /** Ends all connections, hanging ones too, and closes the data. */
  close(): Promise<void>;
}

/**
 * Starts the local stand-in for the platform. Rejects with Node's error when it cannot listen (EADDRINUSE, EACCES)
 * or cannot use the data directory, and with a plain Error when the data there is damaged or of another version.
 * Source: interface.md as a whole.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const settings = resolveSettings(options);
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const faults = new Faults();
  const inFlight = new Set<Promise<void>>();
  const conditions: Conditions = new Conditions(
    {
      close: () => stopListening(server),
      open: () => listenAgain(server, platform.baseUrl, settings),
      lag: (lagMs) => {
        platform.lagLists(lagMs);
      },
    },
    settings.rateLimit,
  );
  const platform = new Platform(settings, conditions);
  const server = serve(createHandler(platform, faults, conditions), inFlight);
  try {
    platform.baseUrl = await listen(server, settings);
  } catch (error) {
    platform.close();
    throw error;
  }

  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    await stopListening(server);
    await Promise.all(inFlight);
    platform.close();
  }

  return {
    baseUrl: platform.baseUrl,
    chatUrl: `${platform.baseUrl}/chat`,
    token: platform.identity.token,
    workspaceId: platform.identity.workspaceId,
    bots: platform.bots.list().map(({ id, name }) => ({ id, name })),
    webhookId: platform.identity.webhookId,
    userKey: platform.identity.userKey,
    dataDir: settings.dataDir,
    faults,
    conditions,
    requests: settings.recordRequests ? platform.log.latest : [],
    counts: platform.log.counts,
    listFiles: (botId) => listFiles(platform, botId),
    readContent: (botId, key, integrationId = '') => readContent(platform, botId, key, integrationId),
    listConversations: (botId) => platform.conversations.listOfBot(botId).map(describeConversation),
    listMessages: (conversationId) => platform.messages.listInOrder(conversationId).map(describeMessage),
    close: () => (closing ??= close()),
  };
}

function serve(handler: Handler, inFlight: Set<Promise<void>>): Server {
  const server = createServer((message, response) => {
    const work = handler(message, response);
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work));
  });
  // A large upload over a slow connection may take longer than Node's five minutes.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  return server;
}

function listen(server: Server, settings: Settings): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, () => {
      server.off('error', reject);
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : settings.port;
      resolve(`http://${reachableHost(settings.host)}:${port}`);
    });
  });
}

/** Ends all connections, hanging ones too, and listens no longer. */
async function stopListening(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeAllConnections();
  await closed;
}

/** Listens at the port of an address again: it was free a moment ago. */
async function listenAgain(server: Server, baseUrl: string, settings: Settings): Promise<void> {
  await listen(server, { ...settings, port: Number(new URL(baseUrl).port) });
}

/** The host that clients on this machine use for a listening address. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listFiles(platform: Platform, botId: string): ListedFile[] {
  platform.expire();
  return platform.files.listOfBot(botId).map((file) => {
    const content = hasContent(file)
      ? { path: platform.content.pathOf(file.uploadId), size: file.sizeBytes }
      : null;
    return { ...describeSized(file, platform), content };
  });
}

function readContent(platform: Platform, botId: string, key: string, integrationId: string): Buffer | null {
  platform.expire();
  const file = platform.files.findByKey(botId, integrationId, key);
  if (file === null || !hasContent(file)) return null;
  return readFileSync(platform.content.pathOf(file.uploadId));
}
