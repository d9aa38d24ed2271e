import * as z from 'zod';
import { readBot, readUser } from '../access.ts';
import { created, randomId, refuse, succeed, type OperationResult } from '../answer.ts';
import type { ChatUser, StoredConversation } from '../chat.ts';
import type { Operation } from '../operation.ts';
import { answerList } from '../paging.ts';
import type { Platform } from '../platform.ts';
import type { EmulatorRequest } from '../request.ts';

const profile = {
  name: z.string().optional(),
  pictureUrl: z.string().optional(),
  profile: z.string().optional(),
};

const newUser = z.strictObject({ ...profile, id: z.string().min(1).optional() });
const newConversation = z.strictObject({ id: z.string().min(1).optional() });
const newParticipant = z.strictObject({ userId: z.string() });

/** An operation under {chat_url}/{webhookUrl}. */
function chat(name: string, method: string, path: string, answer: Operation['answer']): Operation {
  return { name: `chat-${name}`, method, pattern: `/chat/:webhookId${path}`, surface: 'chat', answer };
}

/** The operations of the chat interface except for sending messages. Source: the official chat client. */
export const CHAT_OPERATIONS: readonly Operation[] = [
  chat('hello', 'GET', '/hello', () => succeed({})),
  chat('hello', 'GET', '/hello/', () => succeed({})),

  // Requires no key.
  chat('create-user', 'POST', '/users', async (request, platform) => {
    const { id = `user_${randomId()}`, ...fields } = await request.readBody(newUser);
    if (platform.chat.users.find(id) !== null) refuse(409, 'AlreadyExists', `User "${id}" already exists`);
    const key = `emulator_user_${randomId()}`;
    return created({ user: describeUser(platform.chat.addUser({ id, ...fields }, key)), key });
  }),
  // Keys that a client signed itself are not supported.
  chat('get-or-create-user', 'POST', '/users/get-or-create', async (request, platform) => {
    const user = readUser(request, platform);
    await request.readBody(z.strictObject(profile));
    return succeed({ user: describeUser(user) });
  }),
  chat('get-user', 'GET', '/users/me', (request, platform) =>
    succeed({ user: describeUser(readUser(request, platform)) }),
  ),

  chat('create-conversation', 'POST', '/conversations', async (request, platform) => {
    const user = readUser(request, platform);
    const { id = `conv_${randomId()}` } = await request.readBody(newConversation);
    if (platform.chat.conversations.find(id) !== null)
      refuse(409, 'AlreadyExists', `Conversation "${id}" already exists`);
    return created(show(createOwn(id, user, platform), platform));
  }),
  chat('get-or-create-conversation', 'POST', '/conversations/get-or-create', async (request, platform) => {
    const user = readUser(request, platform);
    const { id } = await request.readBody(newConversation.required());
    return platform.chat.conversations.find(id) === null
      ? created(show(createOwn(id, user, platform), platform))
      : succeed(show(findJoined(id, user, platform), platform));
  }),
  chat('get-conversation', 'GET', '/conversations/:conversationId', (request, platform) =>
    succeed(show(readJoined(request, platform), platform)),
  ),
  chat('list-conversations', 'GET', '/conversations', (request, platform) => {
    const user = readUser(request, platform);
    const own = platform.chat.conversations
      .list()
      .filter(({ participants }) => participants.includes(user.id));
    return answerList(
      request,
      platform.settings.pageSize,
      'conversations',
      own,
      (one) => show(one, platform).conversation,
    );
  }),

  chat(
    'add-participant',
    'POST',
    '/conversations/:conversationId/participants',
    async (request, platform) => {
      const { users, conversations } = platform.chat;
      const conversation = readJoined(request, platform);
      const { userId } = await request.readBody(newParticipant);
      const user = users.find(userId) ?? refuse(404, 'ResourceNotFound', `User "${userId}" not found`);
      const participants = [...new Set([...conversation.participants, userId])];
      conversations.put({ ...conversation, participants });
      return created({ participant: describeUser(user) });
    },
  ),
  chat('list-participants', 'GET', '/conversations/:conversationId/participants', (request, platform) => {
    const { participants } = readJoined(request, platform);
    const users = participants.map((id) => platform.chat.users.find(id)).filter((user) => user !== null);
    return answerList(request, platform.settings.pageSize, 'participants', users, describeUser);
  }),
  chat(
    'get-participant',
    'GET',
    '/conversations/:conversationId/participants/:userId',
    (request, platform) => {
      const userId = request.param('userId');
      const takesPart = readJoined(request, platform).participants.includes(userId);
      const user = takesPart ? platform.chat.users.find(userId) : null;
      return user === null
        ? refuse(404, 'ResourceNotFound', `Participant "${userId}" not found`)
        : succeed({ participant: describeUser(user) });
    },
  ),
  chat(
    'remove-participant',
    'DELETE',
    '/conversations/:conversationId/participants/:userId',
    (request, platform) => {
      const conversation = readJoined(request, platform);
      const participants = conversation.participants.filter((id) => id !== request.param('userId'));
      platform.chat.conversations.put({ ...conversation, participants });
      return succeed({});
    },
  ),

  chat('list-messages', 'GET', '/conversations/:conversationId/messages', (request, platform) => {
    const { id } = readJoined(request, platform);
    return answerList(
      request,
      platform.settings.pageSize,
      'messages',
      platform.chat.messagesOf(id),
      (message) => message,
    );
  }),
  chat('get-message', 'GET', '/messages/:id', (request, platform) => {
    const user = readUser(request, platform);
    const id = request.param('id');
    const message =
      platform.chat.messages.find(id) ?? refuse(404, 'ResourceNotFound', `Message "${id}" not found`);
    findJoined(message.conversationId, user, platform);
    return succeed({ message });
  }),
];

/** Returns the conversation that the path names; refuses like `readUser` and `findJoined`. */
function readJoined(request: EmulatorRequest, platform: Platform): StoredConversation {
  const user = readUser(request, platform);
  return findJoined(request.param('conversationId'), user, platform);
}

/** The webhook belongs to the oldest bot. */
function createOwn(id: string, user: ChatUser, platform: Platform): StoredConversation {
  const botId = platform.bots.list()[0]?.id ?? '';
  return platform.chat.addConversation(
    { id, botId, channel: 'channel', integration: 'chat', tags: {} },
    user.id,
  );
}

/** The Conversation of the chat interface, which has fewer fields. */
function show(conversation: StoredConversation, platform: Platform): { readonly conversation: object } {
  const { id, createdAt, updatedAt } = platform.chat.describe(conversation);
  return { conversation: { id, createdAt, updatedAt } };
}

/** Omits the key, which is shown only when the user is created. */
function describeUser({ id, name, pictureUrl, profile: about, createdAt, updatedAt }: ChatUser): object {
  return { id, name, pictureUrl, profile: about, createdAt, updatedAt };
}

const NAME_MAX_CHARACTERS = 200;

/** Largest message payload as JSON. Source: platform-facts.md, Bots, hub, conversations, messages. */
const PAYLOAD_BYTES_MAX = 128_000;
const conversationBody = z.strictObject({
  channel: z.string().min(1).max(NAME_MAX_CHARACTERS),
  tags: z.record(z.string(), z.string()),
  integrationName: z.string().max(NAME_MAX_CHARACTERS).optional(),
});

/**
 * POST /v1/chat/conversations: creates a conversation of a bot. The emulator's own chat user is its participant, so
 * that its key may send messages. Source: interface.md, Create a conversation.
 */
export const createConversation: Operation = {
  name: 'create-conversation',
  method: 'POST',
  pattern: '/v1/chat/conversations',
  surface: 'api',

  async answer(request, platform): Promise<OperationResult> {
    const bot = readBot(request, platform);
    const { channel, tags, integrationName } = await request.readBody(conversationBody);
    const integration =
      integrationName ??
      request.header('x-integration-alias') ??
      request.header('x-integration-id') ??
      'chat';
    const { chat } = platform;
    const id = `conv_${randomId()}`;
    const conversation = chat.addConversation({ id, botId: bot.id, channel, integration, tags });
    return created({ conversation: chat.describe(conversation) });
  },
};

/**
 * Required fields by type of payload; other types are not checked. Sources: interface.md, Message;
 * platform-facts.md.
 */
const KNOWN_PAYLOADS = new Map<string, z.ZodType>([
  ['audio', z.object({ audioUrl: z.string() })],
  ['text', z.object({ text: z.string() })],
]);

const messageBody = z.strictObject({
  payload: z.looseObject({ type: z.string().min(1) }).superRefine((payload, context) => {
    const parsed = KNOWN_PAYLOADS.get(payload.type)?.safeParse(payload);
    for (const issue of parsed?.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
    }
  }),
  conversationId: z.string().min(1),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/**
 * POST {chat_url}/{webhookUrl}/messages: sends a message to a conversation of the user. Source: interface.md,
 * Create a message; `metadata` from the official chat client.
 */
export const createMessage: Operation = {
  name: 'create-message',
  method: 'POST',
  pattern: '/chat/:webhookId/messages',
  surface: 'chat',

  async answer(request, platform): Promise<OperationResult> {
    const user = readUser(request, platform);
    const { payload, conversationId, metadata } = await request.readBody(messageBody);
    if (Buffer.byteLength(JSON.stringify(payload)) > PAYLOAD_BYTES_MAX)
      refuse(413, 'PayloadTooLarge', `payload: at most ${PAYLOAD_BYTES_MAX} bytes`);
    findJoined(conversationId, user, platform);
    const message = { payload, userId: user.id, conversationId, metadata };
    return created({ message: platform.chat.addMessage(message) });
  },
};

/** Returns a conversation of a user; refuses with 404 if it does not exist, 403 if the user is not a participant. */
function findJoined(id: string, user: ChatUser, { chat }: Platform): StoredConversation {
  const conversation =
    chat.conversations.find(id) ?? refuse(404, 'ResourceNotFound', `Conversation "${id}" not found`);
  return conversation.participants.includes(user.id)
    ? conversation
    : refuse(403, 'Forbidden', 'The user is not a participant of the conversation');
}
