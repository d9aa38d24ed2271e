import { BotTable } from './bot-table.ts';
import type { Conditions } from './conditions.ts';
import { ChatUserTable } from './chat-user-table.ts';
import { ContentStore } from './content-store.ts';
import { ConversationTable } from './conversation-table.ts';
import { openDatabase, type Database } from './database.ts';
import { statusOf } from './file-status.ts';
import { knownSize } from './file-life.ts';
import { FileTable } from './file-table.ts';
import { Hub } from './hub.ts';
import { loadIdentity, type Identity } from './identity.ts';
import { MessageTable } from './message-table.ts';
import type { Settings } from './options.ts';
import { RequestLog } from './request-log.ts';
import { hasContent, type StoredFile } from './stored-file.ts';

/** Everything the operations act on: the data of one directory, its settings, its conditions and its clock. */
export class Platform {
  readonly settings: Settings;
  readonly conditions: Conditions;
  readonly identity: Identity;
  readonly bots: BotTable;
  readonly files: FileTable;
  readonly content: ContentStore;
  readonly hub: Hub;
  readonly users: ChatUserTable;
  readonly conversations: ConversationTable;
  readonly messages: MessageTable;
  readonly log: RequestLog;
  /** Known once the server listens; without a trailing slash. */
  baseUrl = '';
  readonly #database: Database;
  #isClosed = false;

  /** Opens the data directory, which must exist. Throws when its data is damaged or of another version. */
  constructor(settings: Settings, conditions: Conditions) {
    const kept = loadIdentity(settings.dataDir);
    this.settings = settings;
    this.conditions = conditions;
    this.log = new RequestLog(settings.recordedRequestsMax, settings.now);
    this.identity = {
      ...kept,
      token: settings.token ?? kept.token,
      workspaceId: settings.workspaceId ?? kept.workspaceId,
    };
    this.#database = openDatabase(settings.dataDir);
    this.bots = new BotTable(this.#database, settings.bots, settings.now());
    this.files = new FileTable(this.#database, {
      now: settings.now,
      statusOf: (file) => statusOf(file, conditions, settings.now()).status,
      sizeOf: (file) => knownSize(file, settings.now()),
    });
    this.hub = new Hub(settings.integrations);
    this.users = new ChatUserTable(this.#database, this.identity.userKey, settings.now());
    this.conversations = new ConversationTable(this.#database);
    this.messages = new MessageTable(this.#database);
    this.content = new ContentStore(settings.dataDir);
    this.content.removeOrphans((uploadId) => {
      const file = this.files.findByUploadId(uploadId);
      return file !== null && hasContent(file);
    });
    this.expire();
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.settings.now();
  }

  /** Deletes the files that have expired, content included. Source: interface.md, expiresAt. */
  expire(): void {
    for (const file of this.files.removeExpired(this.now())) {
      if (hasContent(file)) this.content.remove(file.uploadId);
    }
  }

  /** Deletes a file. The row first, as in an upsert. */
  remove(file: StoredFile): void {
    this.files.remove(file);
    if (hasContent(file)) this.content.remove(file.uploadId);
  }

  /** From now on lists show what was there so long ago, and (null) what is there. Nothing, once it is closed. */
  lagLists(lagMs: number | null): void {
    if (this.#isClosed) return;
    this.expire();
    this.files.lag(lagMs);
  }

  close(): void {
    this.#isClosed = true;
    this.content.close();
    this.#database.close();
  }
}
