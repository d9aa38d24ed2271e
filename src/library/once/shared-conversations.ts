import type { ConversationMemory } from '../../notify/messenger.ts';

type Conversation = NonNullable<ReturnType<ConversationMemory['conversation']>>;

/** The conversations of one pass over several states: what one of them created, the others send their messages to. */
export class SharedConversations {
  readonly #load: () => Promise<ReadonlyMap<string, Conversation>>;
  readonly #known = new Map<string, Conversation>();
  #loaded: Promise<void> | null = null;
  #turn: Promise<void> = Promise.resolve();

  /** @param load - asks for those that are on record, by purpose; called before the first turn. Does not reject. */
  constructor(load: () => Promise<ReadonlyMap<string, Conversation>>) {
    this.#load = load;
  }

  /** Runs tasks one after the other: two that send their first message would create two conversations. */
  inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(async () => {
      await (this.#loaded ??= this.#loadKnown());
      await task();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** What is remembered by one state, and by the others. */
  rememberedWith(own: ConversationMemory): ConversationMemory {
    const known = this.#known;
    const find = (purpose: string): Conversation | null => {
      const found = known.get(purpose) ?? own.conversation(purpose);
      if (found !== null) known.set(purpose, found);
      return found;
    };
    return {
      conversation: find,
      saveConversation: (purpose, id) => {
        known.set(purpose, { id, isProven: false });
        own.saveConversation(purpose, id);
      },
      proveConversation: (purpose) => {
        const one = find(purpose);
        if (one === null) return;
        known.set(purpose, { ...one, isProven: true });
        own.saveConversation(purpose, one.id);
        own.proveConversation(purpose);
      },
      forgetConversation: (purpose) => {
        known.delete(purpose);
        own.forgetConversation(purpose);
      },
    };
  }

  async #loadKnown(): Promise<void> {
    for (const [purpose, one] of await this.#load()) this.#known.set(purpose, one);
  }
}
