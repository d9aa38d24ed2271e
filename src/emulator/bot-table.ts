import type { Database } from './database.ts';
import type { EmulatorBot } from './options.ts';

const DEFAULT_BOT: EmulatorBot = { id: 'demo-bot', name: 'Demo bot' };

/** The bots of the emulated workspace. Source: interface.md, Bot summary. */
export class BotTable {
  readonly #bots = new Map<string, EmulatorBot>();

  /** Adds the given bots to those kept, and a default one when there would be none. `now`: epoch ms. */
  constructor(database: Database, given: readonly EmulatorBot[], now: number) {
    const add = database.prepare(
      `INSERT INTO bot (id, name, created_at, updated_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at
       WHERE name IS NOT excluded.name`,
    );
    const list = database.prepare('SELECT id, name FROM bot ORDER BY created_at, id');
    for (const bot of given) add.run(bot.id, bot.name, now, now);
    if (list.get() === undefined) add.run(DEFAULT_BOT.id, DEFAULT_BOT.name, now, now);
    for (const row of list.all() as EmulatorBot[]) this.#bots.set(row.id, { id: row.id, name: row.name });
  }

  /** The bot of this id, or null. */
  find(id: string): EmulatorBot | null {
    return this.#bots.get(id) ?? null;
  }

  /** All bots, the oldest first. */
  list(): readonly EmulatorBot[] {
    return [...this.#bots.values()];
  }
}
