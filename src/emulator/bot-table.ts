import type { Database } from './database.ts';
import type { EmulatorBot } from './options.ts';

const DEFAULT_BOT: EmulatorBot = { id: 'demo-bot', name: 'Demo bot' };

/** A bot as the emulator keeps it; times are epoch milliseconds. */
export interface StoredBot extends EmulatorBot {
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface BotRow {
  id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

/** The bots of the emulated workspace. Source: interface.md, Bot summary. */
export class BotTable {
  readonly #bots = new Map<string, StoredBot>();

  /** Adds the given bots to those kept, and a default one when there would be none. `now`: epoch ms. */
  constructor(database: Database, given: readonly EmulatorBot[], now: number) {
    const add = database.prepare(
      `INSERT INTO bot (id, name, created_at, updated_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at
       WHERE name IS NOT excluded.name`,
    );
    const list = database.prepare('SELECT * FROM bot ORDER BY created_at, id');
    for (const bot of given) add.run(bot.id, bot.name, now, now);
    if (list.get() === undefined) add.run(DEFAULT_BOT.id, DEFAULT_BOT.name, now, now);
    for (const { id, name, created_at, updated_at } of list.all() as BotRow[]) {
      this.#bots.set(id, { id, name, createdAt: created_at, updatedAt: updated_at });
    }
  }

  /** The bot of this id, or null. */
  find(id: string): StoredBot | null {
    return this.#bots.get(id) ?? null;
  }

  /** All bots, the oldest first. There is always one. */
  list(): readonly StoredBot[] {
    return [...this.#bots.values()];
  }
}
