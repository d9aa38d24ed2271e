import type { FileKey } from '../../src/domain/key.ts';
import type { LookupFailure, Outcome } from '../../src/domain/failure.ts';
import { PlatformAdministration } from '../../src/platform/administration.ts';
import { PlatformChat, PlatformConversations } from '../../src/platform/conversations.ts';
import { PlatformFiles } from '../../src/platform/files.ts';
import { Http } from '../../src/platform/http.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { systemClock } from '../../src/service/system-clock.ts';
import type { Driver, DriverChoice, FileToStore, Got } from './driver.ts';
import type { Target } from './target.ts';

/** The client that botsync is. */
export const ourClient: DriverChoice = { name: 'our client', connect };

const STALL_TIMEOUT_MS = 20_000;

function connect(target: Target): Driver {
  const { baseUrl, chatUrl, token, workspaceId, botId, chat } = target;
  const { signal } = new AbortController();
  const pacer = new Pacer(
    { maxRequestsPerSecond: null, maxBytesPerSecond: null, longestPauseMs: 60_000 },
    systemClock,
  );
  const settings = {
    connections: 4,
    stallTimeoutMs: STALL_TIMEOUT_MS,
    proxyEnvironment: process.env,
  };
  const http = new Http(settings, pacer, systemClock);
  const retries = { attempts: 1, giveUpAfterMs: 0, random: Math.random, onRetry: () => undefined };
  const files = new PlatformFiles(http, baseUrl, { token, identityHeaders: {} });
  const administration = new PlatformAdministration(http, baseUrl, { token, workspaceId }, retries);
  const caller = { token, botId, identity: {} };
  const conversations = new PlatformConversations(http, baseUrl, caller, retries);
  const messages = new PlatformChat(http, chatUrl, chat ?? NO_CHAT, retries);
  return {
    listBots: async () => translate(await administration.listBots(signal)),
    storeFile: async (file) => {
      const upserted = await files.upsert(botId, toBody(file), signal);
      if (upserted.kind === 'failed') return translate(upserted);
      const content = { kind: 'whole', bytes: Buffer.from(file.content) } as const;
      const publicAtOnce = file.publicContentImmediatelyAccessible === true;
      return translate(await files.upload(upserted.value, content, publicAtOnce, signal));
    },
    getIntegration: async (name, version) =>
      translate(await administration.getIntegration(name, version, false, signal)),
    createConversation: async (body) => translate(await conversations.create(body, signal)),
    createMessage: async (body) => translate(await messages.send(body, signal)),
    close: () => http.close(),
  };
}

const NO_CHAT = { webhookId: 'none', userKey: 'none' };

function toBody({ key, content, ...file }: FileToStore): Parameters<PlatformFiles['upsert']>[1] {
  return {
    key: key as FileKey,
    size: Buffer.byteLength(content),
    index: false,
    tags: {},
    metadata: {},
    accessPolicies: [],
    contentType: 'text/plain',
    ...file,
  };
}

function translate<T>(outcome: Outcome<T, LookupFailure>): Got<T> {
  if (outcome.kind === 'ok') return outcome;
  switch (outcome.failure.kind) {
    case 'credentials':
      return { kind: 'unauthorized' };
    case 'not-found':
      return { kind: 'not-found' };
    case 'refused':
      return { kind: 'refused' };
    case 'quota':
    case 'transient':
      return { kind: 'other' };
  }
}
