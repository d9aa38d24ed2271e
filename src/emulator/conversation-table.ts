import type { Database } from './database.ts';
import { cutPage, type Page, type PageRequest } from './paging.ts';

/** A conversation as the emulator keeps it; times are epoch milliseconds. */
export interface StoredConversation {
  readonly id: string;
  readonly botId: string;
  readonly channel: string;
  readonly integration: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** Later with every message. */
  readonly updatedAt: number;
  readonly messageCount: number;
}

interface ConversationRow {
  number: number;
  id: string;
  bot_id: string;
  channel: string;
  integration: string;
  tags: string;
  created_at: number;
  updated_at: number;
  message_count: number;
}

const SELECT = `SELECT *, (SELECT count(*) FROM message WHERE conversation_id = conversation.id) AS message_count
  FROM conversation`;

/** The conversations of all bots and who takes part in them. */
export class ConversationTable {
  readonly #statements;

  constructor(database: Database) {
    this.#statements = {
      add: database.prepare(
        `INSERT INTO conversation (id, bot_id, channel, integration, tags, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      byId: database.prepare(`${SELECT} WHERE id = ?`),
      ofBot: database.prepare(`${SELECT} WHERE bot_id = ? ORDER BY number LIMIT ? OFFSET ?`),
      countOfBot: database.prepare('SELECT count(*) AS count FROM conversation WHERE bot_id = ?'),
      ofUser: database.prepare(
        `${SELECT} WHERE number > ? AND id IN (SELECT conversation_id FROM participant WHERE user_id = ?)
         ORDER BY number LIMIT ?`,
      ),
      join: database.prepare('INSERT OR IGNORE INTO participant (conversation_id, user_id) VALUES (?, ?)'),
      leave: database.prepare('DELETE FROM participant WHERE conversation_id = ? AND user_id = ?'),
      participant: database.prepare(
        'SELECT 1 AS found FROM participant WHERE conversation_id = ? AND user_id = ?',
      ),
    };
  }

  findById(id: string): StoredConversation | null {
    const row = this.#statements.byId.get(id) as ConversationRow | undefined;
    return row === undefined ? null : fromRow(row);
  }

  /** Adds a conversation without messages, whose id must be new. */
  add(conversation: Omit<StoredConversation, 'messageCount'>): void {
    const { id, botId, channel, integration, tags, createdAt, updatedAt } = conversation;
    this.#statements.add.run(id, botId, channel, integration, JSON.stringify(tags), createdAt, updatedAt);
  }

  /** The conversations of a bot, the oldest first, at most `limit` of them after the first `offset`; all by default. */
  listOfBot(botId: string, limit = -1, offset = 0): StoredConversation[] {
    return (this.#statements.ofBot.all(botId, limit, offset) as ConversationRow[]).map(fromRow);
  }

  countOfBot(botId: string): number {
    return (this.#statements.countOfBot.get(botId) as { count: number }).count;
  }

  /** The conversations a chat user takes part in, the oldest first. */
  listOfUser(userId: string, page: PageRequest): Page<StoredConversation> {
    const rows = this.#statements.ofUser.all(Number(page.after ?? 0), userId, page.size + 1);
    const cut = cutPage(rows as ConversationRow[], page.size, (row) => String(row.number));
    return { ...cut, items: cut.items.map(fromRow) };
  }

  /** Makes a user a participant; nothing happens when it is one. */
  join(conversationId: string, userId: string): void {
    this.#statements.join.run(conversationId, userId);
  }

  /** Ends a user's part in a conversation. */
  leave(conversationId: string, userId: string): void {
    this.#statements.leave.run(conversationId, userId);
  }

  hasParticipant(conversationId: string, userId: string): boolean {
    return this.#statements.participant.get(conversationId, userId) !== undefined;
  }
}

function fromRow(row: ConversationRow): StoredConversation {
  return {
    id: row.id,
    botId: row.bot_id,
    channel: row.channel,
    integration: row.integration,
    tags: JSON.parse(row.tags) as Record<string, string>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    messageCount: row.message_count,
  };
}
