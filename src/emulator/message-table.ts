import type { Database } from './database.ts';
import { cutPage, type Page, type PageRequest } from './paging.ts';

/** The content of a message. Source: interface.md, Message. */
export type MessagePayload = Readonly<Record<string, unknown>> & { readonly type: string };

/** A message as the emulator keeps it; times are epoch milliseconds. */
export interface StoredMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly userId: string;
  readonly payload: MessagePayload;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly createdAt: number;
}

interface MessageRow {
  number: number;
  id: string;
  conversation_id: string;
  user_id: string;
  payload: string;
  metadata: string | null;
  created_at: number;
}

/** The messages of all conversations. */
export class MessageTable {
  readonly #database: Database;
  readonly #statements;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = {
      add: database.prepare(
        `INSERT INTO message (id, conversation_id, user_id, payload, metadata, created_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
      ),
      touch: database.prepare('UPDATE conversation SET updated_at = ? WHERE id = ?'),
      byId: database.prepare('SELECT * FROM message WHERE id = ?'),
      inOrder: database.prepare(
        'SELECT * FROM message WHERE conversation_id = ? ORDER BY number LIMIT ? OFFSET ?',
      ),
      ofConversation: database.prepare(
        'SELECT * FROM message WHERE conversation_id = ? AND number > ? ORDER BY number LIMIT ?',
      ),
    };
  }

  findById(id: string): StoredMessage | null {
    const row = this.#statements.byId.get(id) as MessageRow | undefined;
    return row === undefined ? null : fromRow(row);
  }

  /** Adds a message, whose id must be new, and notes in its conversation when that was. */
  add(message: StoredMessage): void {
    const { id, conversationId, userId, payload, metadata, createdAt } = message;
    const metadataJson = metadata === null ? null : JSON.stringify(metadata);
    this.#database.exec('BEGIN');
    try {
      this.#statements.add.run(id, conversationId, userId, JSON.stringify(payload), metadataJson, createdAt);
      this.#statements.touch.run(createdAt, conversationId);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Messages of a conversation, the oldest first, at most `limit` of them after the first `offset`; all by default. */
  listInOrder(conversationId: string, limit = -1, offset = 0): StoredMessage[] {
    return (this.#statements.inOrder.all(conversationId, limit, offset) as MessageRow[]).map(fromRow);
  }

  /** A page of the messages of a conversation, the oldest first. */
  listOfConversation(conversationId: string, page: PageRequest): Page<StoredMessage> {
    const rows = this.#statements.ofConversation.all(
      conversationId,
      Number(page.after ?? 0),
      page.size + 1,
    ) as MessageRow[];
    const cut = cutPage(rows, page.size, (row) => String(row.number));
    return { ...cut, items: cut.items.map(fromRow) };
  }
}

function fromRow(row: MessageRow): StoredMessage {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    userId: row.user_id,
    payload: JSON.parse(row.payload) as MessagePayload,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
    createdAt: row.created_at,
  };
}
