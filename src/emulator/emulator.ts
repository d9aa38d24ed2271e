import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { ConversationResource, MessageResource } from './chat.ts';
import { Conditions } from './conditions.ts';
import { Faults } from './faults.ts';
import { describeSized, type SizedFile } from './file-resource.ts';
import { createHandler, type Handler } from './handler.ts';
import { resolveSettings, type EmulatorBot, type EmulatorOptions } from './options.ts';
import { streamPage } from './page/operations.ts';
import { Platform } from './platform.ts';
import { hasContent } from './stored-file.ts';
import type { RecordedRequest } from './request-log.ts';

/** A file for tests. `size` is that of the upsert, `content` null until every byte has arrived. */
export interface ListedFile extends SizedFile {
  readonly content: { readonly path: string; readonly size: number } | null;
}

export interface Emulator {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The webhook id follows it. */
  readonly chatUrl: string;
  readonly token: string;
  readonly workspaceId: string;
  readonly bots: readonly EmulatorBot[];
  readonly webhookId: string;
  /** The key of a chat user that is a participant of every conversation created through the main address. */
  readonly userKey: string;
  readonly dataDir: string;
  readonly faults: Faults;
  readonly conditions: Conditions;
  /** The latest requests, oldest first; empty unless `recordRequests` is set. */
  readonly requests: readonly RecordedRequest[];
  /** Requests by operation since the start, without those of the page. */
  readonly counts: ReadonlyMap<string, number>;
  /** The files of a bot, in the order of their keys. */
  listFiles(botId: string): ListedFile[];
  /** Returns the content of a file, or null without any. Without `integrationId`: of a file of the bot itself. */
  readContent(botId: string, key: string, integrationId?: string): Buffer | null;
  /** The conversations of a bot, oldest first. */
  listConversations(botId: string): ConversationResource[];
  /** The messages of a conversation, oldest first. */
  listMessages(conversationId: string): MessageResource[];
  /** Ends all connections, including hanging ones, and closes the data. */
  close(): Promise<void>;
}

/**
 * Starts the local platform. Rejects with Node's error if it cannot listen (EADDRINUSE, EACCES) or cannot use the
 * data directory, and with `UnusableData` if the data is damaged or of another version. Source: interface.md as a
 * whole.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const settings = resolveSettings(options);
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const faults = new Faults();
  const inFlight = new Set<Promise<void>>();
  const conditions: Conditions = new Conditions(
    {
      close: () => stopListening(server),
      // The port can be taken by now.
      open: async () => {
        await listen(server, settings.host, Number(new URL(platform.baseUrl).port));
      },
      lag: (lagMs) => {
        platform.lagLists(lagMs);
      },
    },
    settings.rateLimit,
  );
  const platform = new Platform(settings, conditions, faults);
  const server = serve(createHandler(platform, streamPage(platform)), inFlight);
  try {
    platform.baseUrl = await listen(server, settings.host, settings.port);
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
    listConversations: (botId) =>
      platform.chat.conversationsOf(botId).map((one) => platform.chat.describe(one)),
    listMessages: (conversationId) => platform.chat.messagesOf(conversationId),
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

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      const chosen = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${chosen}`);
    });
  });
}

async function stopListening(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeAllConnections();
  await closed;
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
