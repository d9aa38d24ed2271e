import { Chat, type StoredBot } from './chat.ts';
import { Collection, openDatabase, type Database } from './database.ts';
import type { Conditions } from './conditions.ts';
import { ContentStore } from './content-store.ts';
import type { Faults } from './faults.ts';
import { statusOf, hasContent, type StoredFile } from './stored-file.ts';
import { FileTable } from './file-table.ts';
import { Hub } from './hub.ts';
import { loadIdentity, type Identity } from './identity.ts';
import type { EmulatorBot, Settings } from './options.ts';
import { RequestLog } from './request-log.ts';

const DEFAULT_BOT: EmulatorBot = { id: 'demo-bot', name: 'Demo bot' };

/** The state for operations: the data of one directory, settings, conditions and clock. */
export class Platform {
  readonly settings: Settings;
  readonly conditions: Conditions;
  readonly faults: Faults;
  readonly identity: Identity;
  readonly bots: Collection<StoredBot>;
  readonly files: FileTable;
  readonly content: ContentStore;
  readonly hub: Hub;
  readonly chat: Chat;
  readonly log: RequestLog;
  /** Without a trailing slash; set when the server listens. */
  baseUrl = '';
  readonly #database: Database;
  #isClosed = false;

  /** Opens the data directory, which must exist. Throws `UnusableData` if its data is damaged or of another version. */
  constructor(settings: Settings, conditions: Conditions, faults: Faults) {
    const kept = loadIdentity(settings.dataDir);
    this.settings = settings;
    this.conditions = conditions;
    this.faults = faults;
    this.log = new RequestLog(settings.recordedRequestsMax, settings.now);
    this.identity = {
      ...kept,
      token: settings.token ?? kept.token,
      workspaceId: settings.workspaceId ?? kept.workspaceId,
    };
    this.hub = new Hub(settings.integrations);
    this.#database = openDatabase(settings.dataDir);
    this.bots = new Collection(this.#database, 'bot');
    this.chat = new Chat(this.#database, this.identity.userKey, () => this.timestamp());
    this.files = new FileTable(
      this.#database,
      (file) => statusOf(file, conditions, settings.now()).status,
      settings.now,
    );
    this.content = new ContentStore(settings.dataDir);
    this.content.removeOrphans((uploadId) => {
      const file = this.files.findByUploadId(uploadId);
      return file !== null && hasContent(file);
    });
    settings.bots.forEach((bot) => {
      this.#addBot(bot);
    });
    if (this.bots.list().length === 0) this.#addBot(DEFAULT_BOT);
    this.expire();
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.settings.now();
  }

  /** `now` in ISO 8601. */
  timestamp(): string {
    return new Date(this.now()).toISOString();
  }

  /** Deletes expired files and their content. Source: interface.md, expiresAt. */
  expire(): void {
    this.files.expired(this.now()).forEach((file) => {
      this.remove(file);
    });
  }

  /** Deletes the row first, as an upsert does. */
  remove(file: StoredFile): void {
    this.files.remove(file);
    if (hasContent(file)) this.content.remove(file.uploadId);
  }

  /** Does nothing after `close`. */
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

  /** Renames an existing bot. */
  #addBot({ id, name }: EmulatorBot): void {
    const now = this.timestamp();
    const kept = this.bots.find(id);
    if (kept?.name !== name) this.bots.put({ id, createdAt: kept?.createdAt ?? now, updatedAt: now, name });
  }
}
