import type { Config } from '../../config/config.ts';
import type { Identity } from '../../domain/identity.ts';
import { PlatformAdministration } from '../../platform/administration.ts';
import { PlatformCatalog } from '../../platform/catalog.ts';
import { PlatformChat, PlatformConversations } from '../../platform/conversations.ts';
import { PlatformContents, PlatformFiles } from '../../platform/files.ts';
import { PlatformLookups } from '../../platform/lookups.ts';
import { PlatformUsage } from '../../platform/usage.ts';
import { Webhook } from '../../platform/webhook.ts';
import type { Http } from '../../platform/http.ts';
import { identityHeaders, type Caller } from '../../platform/api.ts';
import type { RequestRetries } from '../../platform/requester.ts';
import { SyncError } from '../sync-error.ts';
import type { Credentials } from './credentials.ts';

/** The identity headers of conversations (interface.md, Create a conversation: Headers). */
export type ConversationIdentity = Pick<Identity, 'integrationId' | 'integrationAlias'>;

/**
 * The operations of the platform or the emulator. Clients are created on demand, so that a command needs only the
 * configuration that it uses; each function throws `SyncError` if the configuration lacks something.
 */
export interface Clients {
  /** Always the same client, because it learns the platform's time. It does not retry; sync does. */
  readonly files: () => PlatformFiles;
  /** `null` if `platform.operations` is `"specified"`. */
  readonly catalog: () => PlatformCatalog | null;
  readonly contents: () => PlatformContents;
  /** Throws `SyncError` also if `platform.operations` is `"specified"`. */
  readonly lookups: (botId: string) => PlatformLookups;
  readonly administration: () => PlatformAdministration;
  /** The used part of the workspace's quotas. Throws `SyncError` also if `platform.operations` is `"specified"`. */
  readonly usage: () => PlatformUsage;
  /** @param identity - takes precedence over the configured one; `alone`: replaces that completely. */
  readonly conversations: (identity: ConversationIdentity, alone?: 'alone') => PlatformConversations;
  readonly chat: () => PlatformChat;
  /** The address of `notify.webhook`, which is not the platform's. */
  readonly webhook: () => Webhook;
}

/** Creates the clients for a configuration. */
export function createClients(
  { platform, sources }: Pick<Config, 'platform' | 'sources'>,
  credentials: Credentials,
  http: Http,
  retries: RequestRetries,
): Clients {
  const { baseUrl, chatUrl, workspaceId, webhookId } = credentials;
  let files: PlatformFiles | null = null;
  const callerOfFiles = (): Caller => {
    const tokens = credentials.sourceTokens();
    const [token = ''] = tokens.values();
    return { token, tokens, identityHeaders: identityHeaders(platform.identity) };
  };
  return {
    files: () => {
      if (files !== null) return files;
      credentials.demand('files');
      files = new PlatformFiles(http, baseUrl, callerOfFiles());
      return files;
    },
    catalog: () => {
      if (platform.operations === 'specified') return null;
      credentials.demand('files');
      return new PlatformCatalog(http, baseUrl, callerOfFiles());
    },
    contents: () => new PlatformContents(http),
    lookups: (botId) => {
      credentials.demand('files');
      demandOptional(platform);
      return new PlatformLookups(http, baseUrl, botId, callerOfFiles(), retries);
    },
    administration: () => {
      credentials.demand('admin');
      const administrator = { token: credentials.token(), workspaceId };
      return new PlatformAdministration(http, baseUrl, administrator, retries);
    },
    usage: () => {
      demandOptional(platform);
      credentials.demand('admin');
      const administrator = { token: credentials.token(), workspaceId };
      // One attempt: nobody waits for the answer.
      return new PlatformUsage(http, baseUrl, administrator, { ...retries, attempts: 1 });
    },
    conversations: (identity, alone) => {
      credentials.demand('conversation');
      const botId = conversationBot({ platform, sources });
      const own = alone === 'alone' ? {} : platform.identity;
      const caller = { token: credentials.tokenOf(botId), botId, identity: { ...own, ...identity } };
      return new PlatformConversations(http, baseUrl, caller, retries);
    },
    chat: () => {
      credentials.demand('message');
      return new PlatformChat(http, chatUrl, { webhookId, userKey: credentials.userKey() }, retries);
    },
    webhook: () => new Webhook(http, credentials.webhook(), retries),
  };
}

function demandOptional({ operations }: Config['platform']): void {
  if (operations === 'specified')
    throw new SyncError('usage', {
      place: 'platform.operations',
      reason: 'is "specified", and this command needs an operation beyond that',
      fix: 'remove it, or write "auto"',
    });
}

/** Returns the bot of conversations. */
export function conversationBot({ platform, sources }: Pick<Config, 'platform' | 'sources'>): string {
  return platform.botId ?? sources[0]?.botId ?? '';
}
