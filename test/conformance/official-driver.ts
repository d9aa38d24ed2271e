import { Client as ChatClient, isApiError as isChatError } from '@botpress/chat';
import { Client, isApiError } from '@botpress/client';
import type { Driver, DriverChoice, Got } from './driver.ts';
import type { Target } from './target.ts';

/** `@botpress/client`, and `@botpress/chat` for messages. */
export const officialClients: DriverChoice = { name: 'the official clients', connect };

/** The official client of a target's main address. */
export function officialClient({ baseUrl, token, workspaceId, botId }: Target): Client {
  return new Client({ apiUrl: baseUrl, token, workspaceId, botId });
}

/** The official client of a target's chat address. */
export function officialChat({ chatUrl, chat }: Target): ChatClient {
  return new ChatClient({ apiUrl: `${chatUrl}/${chat?.webhookId ?? ''}` });
}

/** What came of a call of an official client; throws what is no answer of the platform. */
export async function got<T>(call: Promise<T>): Promise<Got<T>> {
  try {
    return { kind: 'ok', value: await call };
  } catch (error) {
    if (!isApiError(error) && !isChatError(error)) throw error;
    const { code } = error as { code: number };
    if (code === 401) return { kind: 'unauthorized' };
    if (code === 404) return { kind: 'not-found' };
    return { kind: code >= 400 && code < 500 ? 'refused' : 'other' };
  }
}

function connect(target: Target): Driver {
  const client = officialClient(target);
  const chat = officialChat(target);
  return {
    listBots: () => got(client.list.bots({}).collect()),
    // Empty content is taken as bytes only.
    storeFile: ({ accessPolicies = [], content, ...file }) =>
      got(
        client
          .uploadFile({ ...file, content: Buffer.from(content), accessPolicies: [...accessPolicies] })
          .then(() => null),
      ),
    getIntegration: (name, version) =>
      got(client.getPublicIntegration({ name, version }).then(({ integration }) => integration)),
    createConversation: (body) =>
      got(client.createConversation(body).then(({ conversation }) => conversation)),
    createMessage: ({ conversationId, payload }) => {
      const input = { 'x-user-key': target.chat?.userKey ?? '', conversationId, payload };
      const typed = input as unknown as Parameters<ChatClient['createMessage']>[0];
      return got(chat.createMessage(typed).then(({ message }) => ({ ...message })));
    },
    close: () => Promise.resolve(),
  };
}
