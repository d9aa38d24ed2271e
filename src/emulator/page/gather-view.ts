import { describeConversation, describeMessage } from '../chat-resources.ts';
import { describeConditions } from '../describe-conditions.ts';
import { describeSized } from '../file-resource.ts';
import { FILE_SORTS, FILE_TRAITS } from '../file-search.ts';
import { FILE_STATUSES } from '../file-status.ts';
import type { Platform } from '../platform.ts';
import type { RecordedRequest } from '../request-log.ts';
import type { StoredFile } from '../stored-file.ts';
import type { FileChoice, PageSlice, PageSubject, PageView, ShownFile } from './page-view.ts';

const ROWS_A_PAGE = 100;
const REQUESTS_A_PAGE = 20;

/** What the page of an address shows; its query chooses the bot, the file or the conversation, and stretches of lists. */
export function gatherView(query: URLSearchParams, platform: Platform): PageView {
  platform.expire();
  const usage = platform.files.usageByBot();
  const bots = platform.bots
    .list()
    .map(({ id, name }) => ({ id, name, files: 0, bytes: 0, ...usage.get(id) }));
  const bot = (query.has('bot') ? bots.find(({ id }) => id === query.get('bot')) : bots[0]) ?? null;
  return {
    baseUrl: platform.baseUrl,
    chatAddress: `${platform.baseUrl}/chat/${platform.identity.webhookId}`,
    workspaceId: platform.identity.workspaceId,
    bots,
    bot,
    conditions: describeConditions(platform.conditions.current),
    subject: bot === null ? { kind: 'nothing', what: 'bot' } : gatherSubject(query, bot.id, platform),
    now: platform.now(),
  };
}

function gatherSubject(query: URLSearchParams, botId: string, platform: Platform): PageSubject {
  const fileId = query.get('file');
  const conversationId = query.get('conversation');
  if (fileId !== null) return gatherFile(query, botId, fileId, platform);
  if (conversationId !== null) return gatherConversation(query, botId, conversationId, platform);
  const { files, conversations } = platform;
  const choice = readChoice(query);
  const search = { botId, ...choice };
  return {
    kind: 'bot',
    choice,
    files: stretch(query.get('files'), files.countFound(search), ROWS_A_PAGE, (offset) =>
      files.search(search, ROWS_A_PAGE, offset).map((file) => show(file, platform)),
    ),
    conversations: stretch(
      query.get('conversations'),
      conversations.countOfBot(botId),
      ROWS_A_PAGE,
      (offset) => conversations.listOfBot(botId, ROWS_A_PAGE, offset).map(describeConversation),
    ),
    requests: latestFirst(query, platform.log.latest),
  };
}

function gatherFile(query: URLSearchParams, botId: string, id: string, platform: Platform): PageSubject {
  const file = platform.files.findById(id);
  if (file?.botId !== botId) return { kind: 'nothing', what: 'file' };
  const requests = platform.log.latest.filter(
    (request) => request.key === file.key && (request.botId ?? botId) === botId,
  );
  return {
    kind: 'file',
    file: show(file, platform),
    details: file.details,
    requests: latestFirst(query, requests),
  };
}

function gatherConversation(
  query: URLSearchParams,
  botId: string,
  id: string,
  { conversations, messages }: Platform,
): PageSubject {
  const conversation = conversations.findById(id);
  if (conversation?.botId !== botId) return { kind: 'nothing', what: 'conversation' };
  return {
    kind: 'conversation',
    conversation: describeConversation(conversation),
    messages: stretch(query.get('messages'), conversation.messageCount, ROWS_A_PAGE, (offset) =>
      messages.listInOrder(id, ROWS_A_PAGE, offset).map(describeMessage),
    ),
  };
}

/** What makes no sense chooses nothing. */
function readChoice(query: URLSearchParams): FileChoice {
  const one = <T extends string>(name: string, values: readonly T[]): T | null =>
    values.find((value) => value === query.get(name)) ?? null;
  return {
    contains: query.get('filter') ?? '',
    status: one('status', FILE_STATUSES),
    trait: one('only', FILE_TRAITS),
    sort: one('sort', FILE_SORTS) ?? 'key',
  };
}

function show(file: StoredFile, platform: Platform): ShownFile {
  return { ...describeSized(file, platform), uploadedAt: file.uploadedAt };
}

function latestFirst(
  query: URLSearchParams,
  requests: readonly RecordedRequest[],
): PageSlice<RecordedRequest> {
  return stretch(query.get('requests'), requests.length, REQUESTS_A_PAGE, (offset) =>
    requests.slice(-offset - REQUESTS_A_PAGE, requests.length - offset).toReversed(),
  );
}

/** The stretch of a list that is asked for, or the nearest. */
function stretch<T>(
  asked: string | null,
  total: number,
  size: number,
  read: (offset: number) => T[],
): PageSlice<T> {
  const pages = Math.max(1, Math.ceil(total / size));
  const wanted = Number(asked ?? 1);
  const page = Number.isSafeInteger(wanted) ? Math.min(Math.max(wanted, 1), pages) : 1;
  return { items: read((page - 1) * size), page, pages, total };
}
