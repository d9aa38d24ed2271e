import type { Config } from '../../config/config.ts';
import type { Identity } from '../../domain/identity.ts';
import { PlatformAdministration } from '../../platform/administration.ts';
import { PlatformCatalog } from '../../platform/catalog.ts';
import { PlatformChat, PlatformConversations } from '../../platform/conversations.ts';
import { PlatformContents, PlatformFiles } from '../../platform/files.ts';
import { PlatformLookups } from '../../platform/lookups.ts';
import { PlatformUsage } from '../../platform/usage.ts';
import type { Http } from '../../platform/http.ts';
import { identityHeaders } from '../../platform/api.ts';
import type { RequestRetries } from '../../platform/requester.ts';
import { SyncError } from '../sync-error.ts';
import type { Credentials } from './credentials.ts';

/** The identity headers that conversations take (interface.md, Create a conversation: Headers). */
export type ConversationIdentity = Pick<Identity, 'integrationId' | 'integrationAlias'>;

/**
 * The platform's operations, or the emulator's in their place. A client is made when it is asked for, so that a command
 * needs no more of the configuration than it uses; each throws `SyncError` when the configuration lacks what it takes.
 */
export interface Clients {
  /** The same one each time: it learns the platform's time. Sync retries its requests, not the client. */
  readonly files: () => PlatformFiles;
  /** What the platform has; `null` where `platform.operations` does not let it be asked. */
  readonly catalog: () => PlatformCatalog | null;
  /** The contents of files. */
  readonly contents: () => PlatformContents;
  /** What the bot finds in its files. Throws `SyncError` also where `platform.operations` does not let it be asked. */
  readonly lookups: (botId: string) => PlatformLookups;
  readonly administration: () => PlatformAdministration;
  /** How much of its quotas the workspace uses. Throws `SyncError` also where `platform.operations` does not let it be asked. */
  readonly usage: () => PlatformUsage;
  /** @param identity - counts before that of the config; `alone`: that of the config does not count at all. */
  readonly conversations: (identity: ConversationIdentity, alone?: 'alone') => PlatformConversations;
  readonly chat: () => PlatformChat;
}

/** Makes the clients of a configuration. A new one is added here, and gets to every command that way. */
export function createClients(
  { platform, sources }: Pick<Config, 'platform' | 'sources'>,
  credentials: Credentials,
  http: Http,
  retries: RequestRetries,
): Clients {
  const { baseUrl, chatUrl, workspaceId, webhookId } = credentials;
  let files: PlatformFiles | null = null;
  return {
    files: () => {
      if (files !== null) return files;
      credentials.demand('files');
      const caller = { token: credentials.token(), identityHeaders: identityHeaders(platform.identity) };
      files = new PlatformFiles(http, baseUrl, caller);
      return files;
    },
    catalog: () => {
      if (platform.operations === 'specified') return null;
      credentials.demand('files');
      const caller = { token: credentials.token(), identityHeaders: identityHeaders(platform.identity) };
      return new PlatformCatalog(http, baseUrl, caller);
    },
    contents: () => new PlatformContents(http),
    lookups: (botId) => {
      credentials.demand('files');
      demandOptional(platform);
      const caller = { token: credentials.token(), identityHeaders: identityHeaders(platform.identity) };
      return new PlatformLookups(http, baseUrl, botId, caller, retries);
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
      // Nobody waits for it: it is asked once.
      return new PlatformUsage(http, baseUrl, administrator, { ...retries, attempts: 1 });
    },
    conversations: (identity, alone) => {
      credentials.demand('conversation');
      const botId = conversationBot({ platform, sources });
      const own = alone === 'alone' ? {} : platform.identity;
      const caller = { token: credentials.token(), botId, identity: { ...own, ...identity } };
      return new PlatformConversations(http, baseUrl, caller, retries);
    },
    chat: () => {
      credentials.demand('message');
      return new PlatformChat(http, chatUrl, { webhookId, userKey: credentials.userKey() }, retries);
    },
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

/** The bot whose conversations are meant. */
export function conversationBot({ platform, sources }: Pick<Config, 'platform' | 'sources'>): string {
  return platform.botId ?? sources[0]?.botId ?? '';
}
