import { isIP } from 'node:net';
import type { OperationResult } from '../answer.ts';
import { describeConversation, describeMessage } from '../chat-resources.ts';
import { describeSized } from '../file-resource.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { PAGE_POLICY } from '../../web/style.ts';
import { renderPage, type PageView, type PageSlice } from '../page.ts';
import type { Platform } from '../platform.ts';
import type { EmulatorRequest } from '../request.ts';

const ROWS_A_PAGE = 100;

/** GET /: what is on the platform, for people. */
export const showPage: Operation = {
  name: 'page',
  method: 'GET',
  pattern: '/',
  surface: 'page',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    // A web site whose name was made to lead here must not read what is on the page.
    if (!isOwnAddress(request))
      return text(403, 'This page is only shown under localhost or an IP address.\n');
    platform.expire();
    const view = gather(new URLSearchParams(request.query), platform);
    return view === null ? text(404, 'Bot or conversation not found.\n') : page(renderPage(view));
  },
};

function gather(query: URLSearchParams, platform: Platform): PageView | null {
  const { files, conversations, messages } = platform;
  const usage = files.usageByBot();
  const bots = platform.bots
    .list()
    .map(({ id, name }) => ({ id, name, files: 0, bytes: 0, ...usage.get(id) }));
  const bot = query.has('bot') ? bots.find(({ id }) => id === query.get('bot')) : bots[0];
  if (bot === undefined) return null;
  const conversationId = query.get('conversation');
  const conversation = conversationId === null ? null : conversations.findById(conversationId);
  if (conversationId !== null && conversation?.botId !== bot.id) return null;
  const stretch = <T>(name: string, total: number, read: (offset: number) => T[]): PageSlice<T> => {
    const pages = Math.max(1, Math.ceil(total / ROWS_A_PAGE));
    const wanted = Number(query.get(name) ?? 1);
    const number = Number.isSafeInteger(wanted) ? Math.min(Math.max(wanted, 1), pages) : 1;
    return { items: read((number - 1) * ROWS_A_PAGE), page: number, pages, total };
  };
  return {
    baseUrl: platform.baseUrl,
    chatAddress: `${platform.baseUrl}/chat/${platform.identity.webhookId}`,
    workspaceId: platform.identity.workspaceId,
    bots,
    bot,
    files: stretch('files', bot.files, (offset) =>
      files.listOfBot(bot.id, ROWS_A_PAGE, offset).map((file) => describeSized(file, platform)),
    ),
    conversations: stretch('conversations', conversations.countOfBot(bot.id), (offset) =>
      conversations.listOfBot(bot.id, ROWS_A_PAGE, offset).map(describeConversation),
    ),
    conversation:
      conversation === null
        ? null
        : {
            resource: describeConversation(conversation),
            messages: stretch('messages', conversation.messageCount, (offset) =>
              messages.listInOrder(conversation.id, ROWS_A_PAGE, offset).map(describeMessage),
            ),
          },
    now: platform.now(),
  };
}

function isOwnAddress(request: EmulatorRequest): boolean {
  const host = (request.header('host') ?? '').replace(/:\d+$/, '');
  return host === 'localhost' || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function page(body: string): OperationResult {
  return {
    kind: 'text',
    status: 200,
    body,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': PAGE_POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    },
  };
}

function text(status: number, body: string): OperationResult {
  return { kind: 'text', status, body, headers: { 'Content-Type': 'text/plain; charset=utf-8' } };
}
