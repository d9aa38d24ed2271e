import type { ConversationResource, MessageResource } from '../chat-resources.ts';
import type { SizedFile } from '../file-resource.ts';
import type { FileSort, FileTrait } from '../file-search.ts';
import type { FileStatus } from '../file-status.ts';
import type { EmulatorBot } from '../options.ts';
import type { RecordedRequest } from '../request-log.ts';
import type { FileDetails } from '../stored-file.ts';

/** A stretch of a list: `page` counts from 1. */
export interface PageSlice<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

/** A file with what its resource does not tell; times are epoch milliseconds. */
export interface ShownFile extends SizedFile {
  readonly uploadedAt: number | null;
}

/** Which files are shown, and in which order. */
export interface FileChoice {
  /** Part of the key, in whatever case; empty for all. */
  readonly contains: string;
  readonly status: FileStatus | null;
  readonly trait: FileTrait | null;
  readonly sort: FileSort;
}

/** What of the page an address chooses; a number of a page is left out when it is the first. */
export interface PageChoice {
  readonly bot: string;
  readonly choice?: FileChoice;
  readonly files?: number;
  readonly conversations?: number;
  readonly requests?: number;
  readonly conversation?: string;
  readonly messages?: number;
  /** The id of a file. */
  readonly file?: string;
}

/** What the page is about. */
export type PageSubject =
  | {
      readonly kind: 'bot';
      readonly choice: FileChoice;
      readonly files: PageSlice<ShownFile>;
      readonly conversations: PageSlice<ConversationResource>;
      readonly requests: PageSlice<RecordedRequest>;
    }
  | {
      readonly kind: 'file';
      readonly file: ShownFile;
      readonly details: FileDetails;
      readonly requests: PageSlice<RecordedRequest>;
    }
  | {
      readonly kind: 'conversation';
      readonly conversation: ConversationResource;
      readonly messages: PageSlice<MessageResource>;
    }
  | { readonly kind: 'nothing'; readonly what: 'bot' | 'file' | 'conversation' };

/** Everything the page shows. No token and no user key: it is a page for looking at things over a shoulder. */
export interface PageView {
  readonly baseUrl: string;
  readonly chatAddress: string;
  readonly workspaceId: string;
  readonly bots: readonly (EmulatorBot & { readonly files: number; readonly bytes: number })[];
  /** Null when the address names one that there is not. */
  readonly bot: EmulatorBot | null;
  /** How the platform departs from the usual, a sentence each. */
  readonly conditions: readonly string[];
  readonly subject: PageSubject;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The address of what is chosen. */
export function addressOf(chosen: PageChoice): string {
  const {
    bot,
    choice,
    files = 1,
    conversations = 1,
    requests = 1,
    conversation,
    messages = 1,
    file,
  } = chosen;
  const query = new URLSearchParams({ bot });
  if (file !== undefined) query.set('file', file);
  if (conversation !== undefined) query.set('conversation', conversation);
  if (choice !== undefined) {
    const { contains, status, trait, sort } = choice;
    if (contains !== '') query.set('filter', contains);
    if (status !== null) query.set('status', status);
    if (trait !== null) query.set('only', trait);
    if (sort !== 'key') query.set('sort', sort);
  }
  for (const [name, page] of Object.entries({ files, conversations, requests, messages })) {
    if (page !== 1) query.set(name, String(page));
  }
  return `/?${query.toString()}`;
}
