import { createHash } from 'node:crypto';
import type { Database } from './database.ts';
import { cutPage, type Page, type PageRequest } from './paging.ts';

/** What a chat user says of itself. */
export interface ChatProfile {
  readonly name?: string | undefined;
  readonly pictureUrl?: string | undefined;
  readonly profile?: string | undefined;
}

/** A user of the chat interface; times are epoch milliseconds. */
export interface ChatUser {
  readonly id: string;
  readonly profile: ChatProfile;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The user whose key the emulator prints; it takes part in every conversation that is created through the main API. */
const DEFAULT_USER_ID = 'user_default';

interface UserRow {
  number: number;
  id: string;
  profile: string;
  created_at: number;
  updated_at: number;
}

/** The chat users. Their keys are kept as digests only. */
export class ChatUserTable {
  readonly #statements;
  /** See DEFAULT_USER_ID. */
  readonly defaultUserId = DEFAULT_USER_ID;

  /** `defaultKey`: the key of the default user in this run. `now`: epoch ms. */
  constructor(database: Database, defaultKey: string, now: number) {
    this.#statements = {
      add: database.prepare(
        'INSERT INTO chat_user (id, key_digest, profile, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
      ),
      byId: database.prepare('SELECT * FROM chat_user WHERE id = ?'),
      byDigest: database.prepare('SELECT * FROM chat_user WHERE key_digest = ?'),
      participants: database.prepare(
        `SELECT participant.number, chat_user.id, profile, created_at, updated_at
         FROM participant JOIN chat_user ON chat_user.id = user_id
         WHERE conversation_id = ? AND participant.number > ? ORDER BY participant.number LIMIT ?`,
      ),
    };
    database
      .prepare(
        `INSERT INTO chat_user (id, key_digest, profile, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET key_digest = excluded.key_digest`,
      )
      .run(DEFAULT_USER_ID, digest(defaultKey), JSON.stringify({ name: 'Emulator user' }), now, now);
  }

  findById(id: string): ChatUser | null {
    return toUser(this.#statements.byId.get(id) as UserRow | undefined);
  }

  findByKey(key: string): ChatUser | null {
    return toUser(this.#statements.byDigest.get(digest(key)) as UserRow | undefined);
  }

  /** Adds a user, whose id and key must be new. */
  add(user: ChatUser, key: string): void {
    const { id, profile, createdAt, updatedAt } = user;
    this.#statements.add.run(id, digest(key), JSON.stringify(profile), createdAt, updatedAt);
  }

  /** The participants of a conversation in the order they joined. */
  listParticipants(conversationId: string, page: PageRequest): Page<ChatUser> {
    const rows = this.#statements.participants.all(conversationId, Number(page.after ?? 0), page.size + 1);
    const cut = cutPage(rows as UserRow[], page.size, (row) => String(row.number));
    return { ...cut, items: cut.items.map(fromRow) };
  }
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function toUser(row: UserRow | undefined): ChatUser | null {
  return row === undefined ? null : fromRow(row);
}

function fromRow(row: UserRow): ChatUser {
  return {
    id: row.id,
    profile: JSON.parse(row.profile) as ChatProfile,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
