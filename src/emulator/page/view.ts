import type { MessageResource } from '../chat.ts';
import { describeSized, type SizedFile } from '../file-resource.ts';
import { FILE_STATUSES, type FileStatus } from '../stored-file.ts';
import type { EmulatorBot } from '../options.ts';
import type { Platform } from '../platform.ts';
import type { RecordedRequest } from '../request-log.ts';
import type { Condition } from '../conditions.ts';
import type { Fault } from '../faults.ts';

export const FILES_A_PAGE = 100;
const REQUESTS_SHOWN = 50;
const MESSAGES_SHOWN = 20;

/** The choices in the address of the page. */
export interface PageChoice {
  readonly bot: string;
  /** Part of the key of files and requests, case-insensitive; empty for all. */
  readonly filter: string;
  readonly status: FileStatus | null;
  /** From 1. */
  readonly page: number;
}

/** Times are epoch milliseconds. */
export interface ShownFile extends SizedFile {
  readonly uploadedAt: number | null;
}

/** Everything the page shows. No token and no user key: others may see the screen. */
export interface PageView {
  readonly baseUrl: string;
  readonly chatAddress: string;
  readonly workspaceId: string;
  readonly bots: readonly (EmulatorBot & { readonly files: number; readonly bytes: number })[];
  readonly choice: PageChoice;
  /** Active conditions and faults, a sentence each. */
  readonly departures: readonly string[];
  readonly files: readonly ShownFile[];
  readonly filesFound: number;
  /** Latest first. Requests of all bots, messages of the chosen one. */
  readonly requests: readonly RecordedRequest[];
  readonly messages: readonly MessageResource[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Returns the view for the query of an address; ignores invalid choices. */
export function viewOf(query: URLSearchParams, platform: Platform): PageView {
  platform.expire();
  const { files, chat, conditions, faults, log } = platform;
  const bots = platform.bots.list().map(({ id, name }) => ({
    ...{ id, name, bytes: files.usage(id).bytes },
    files: files.countFound({ botId: id, contains: '', status: null }),
  }));
  const bot = (bots.find(({ id }) => id === query.get('bot')) ?? bots[0])?.id ?? '';
  const filter = query.get('filter') ?? '';
  const status = FILE_STATUSES.find((one) => one === query.get('status')) ?? null;
  const search = { botId: bot, contains: filter, status };
  const filesFound = files.countFound(search);
  const wanted = Math.trunc(Number(query.get('page') ?? 1)) || 1;
  const page = Math.min(Math.max(wanted, 1), Math.max(1, Math.ceil(filesFound / FILES_A_PAGE)));
  const lowered = filter.toLowerCase();
  return {
    baseUrl: platform.baseUrl,
    chatAddress: `${platform.baseUrl}/chat/${platform.identity.webhookId}`,
    workspaceId: platform.identity.workspaceId,
    bots,
    choice: { bot, filter, status, page },
    departures: [...conditions.current.map(describeCondition), ...faults.pending().map(describeFault)],
    files: files
      .search(search, FILES_A_PAGE, (page - 1) * FILES_A_PAGE)
      .map((file) => ({ ...describeSized(file, platform), uploadedAt: file.uploadedAt })),
    filesFound,
    requests: log.latest
      .filter(({ key = '' }) => key.toLowerCase().includes(lowered))
      .slice(-REQUESTS_SHOWN)
      .toReversed(),
    messages: chat.messages
      .list()
      .filter(({ conversationId }) => chat.conversations.find(conversationId)?.botId === bot)
      .slice(-MESSAGES_SHOWN)
      .toReversed(),
    now: platform.now(),
  };
}

export function addressOf({ bot, filter, status, page }: PageChoice): string {
  const query = new URLSearchParams({ bot });
  if (filter !== '') query.set('filter', filter);
  if (status !== null) query.set('status', status);
  if (page !== 1) query.set('page', String(page));
  return `/?${query.toString()}`;
}

function describeCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'refused':
      return 'Nobody listens.';
    case 'unavailable':
      return `Every request is answered with ${condition.status ?? 503}.`;
    case 'slow-store':
      return `Uploads are read at ${condition.bytesPerSecond.toLocaleString('en')} bytes per second.`;
    case 'rate-limit': {
      const { requests, windowMs } = condition.rateLimit;
      return `At most ${requests.toLocaleString('en')} requests are taken in ${windowMs / 1000} s.`;
    }
    case 'lagging-list':
      return `Lists show what was there ${condition.lagMs === Infinity ? 'when this began' : `${condition.lagMs / 1000} s ago`}.`;
    case 'new-ids':
      return 'A file that is sent again gets a new id.';
    case 'pending-again':
      return `Files are pending again: ${condition.keys ?? '**'}.`;
    case 'late-limits':
      return 'Limits are looked at only when the content is there.';
    case 'failing-uploads':
      return `Content of ${condition.keys} is refused: ${condition.reason}`;
    case 'failing-indexing':
      return `Indexing of ${condition.keys} fails: ${condition.reason}`;
    case 'slow-notice':
      return condition.delayMs === Infinity
        ? 'Content that arrives is never noticed.'
        : `Content that arrives is noticed after ${condition.delayMs / 1000} s.`;
    case 'updates-reindex':
      return 'A file whose facts change is indexed again.';
  }
}

function describeFault({ kind, operation, key, times = 1, after = 0 }: Fault): string {
  const which = key === undefined ? '' : ` of ${key}`;
  const begins = after === 0 ? '' : `, after ${after} more`;
  return `Fault "${kind}" at ${times === Infinity ? 'every' : `the next ${times}`} ${operation}${which}${begins}.`;
}
