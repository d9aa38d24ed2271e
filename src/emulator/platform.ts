import { BotTable } from './bot-table.ts';
import { ChatUserTable } from './chat-user-table.ts';
import { ContentStore } from './content-store.ts';
import { ConversationTable } from './conversation-table.ts';
import { openDatabase, type Database } from './database.ts';
import { statusOf } from './file-status.ts';
import { FileTable, type StoredFile } from './file-table.ts';
import { Hub } from './hub.ts';
import { loadIdentity, type Identity } from './identity.ts';
import { MessageTable } from './message-table.ts';
import type { Settings } from './options.ts';

/** Everything the operations act on: the data of one directory, its settings and its clock. */
export class Platform {
  readonly settings: Settings;
  readonly identity: Identity;
  readonly bots: BotTable;
  readonly files: FileTable;
  readonly content: ContentStore;
  readonly hub: Hub;
  readonly users: ChatUserTable;
  readonly conversations: ConversationTable;
  readonly messages: MessageTable;
  /** Known once the server listens; without a trailing slash. */
  baseUrl = '';
  readonly #database: Database;

  /** Opens the data directory, which must exist. Throws when its data is damaged or of another version. */
  constructor(settings: Settings) {
    const kept = loadIdentity(settings.dataDir);
    this.settings = settings;
    this.identity = {
      ...kept,
      token: settings.token ?? kept.token,
      workspaceId: settings.workspaceId ?? kept.workspaceId,
    };
    this.#database = openDatabase(settings.dataDir);
    this.bots = new BotTable(this.#database, settings.bots, settings.now());
    this.files = new FileTable(this.#database, (file) => statusOf(file, settings, settings.now()).status);
    this.hub = new Hub(settings.integrations);
    this.users = new ChatUserTable(this.#database, this.identity.userKey, settings.now());
    this.conversations = new ConversationTable(this.#database);
    this.messages = new MessageTable(this.#database);
    this.content = new ContentStore(settings.dataDir);
    this.content.removeOrphans((uploadId) => {
      const file = this.files.findByUploadId(uploadId);
      return file !== null && file.uploadedAt !== null;
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
      if (file.uploadedAt !== null) this.content.remove(file.uploadId);
    }
  }

  /** Deletes a file. The row first, as in an upsert. */
  remove(file: StoredFile): void {
    this.files.remove(file);
    if (file.uploadedAt !== null) this.content.remove(file.uploadId);
  }

  close(): void {
    this.content.close();
    this.#database.close();
  }
}
