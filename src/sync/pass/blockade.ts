import { ownTokenPosition, type Config } from '../../config/config.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import type { Emit, Refusal } from '../events.ts';

/** Refusals that affect whole groups of files, as found by the first file that met them. */
export class Blockade {
  #all: string | null = null;
  readonly #bots = new Map<string, string>();
  readonly #hasOwnToken: (botId: string) => boolean;
  #quota: string | null = null;

  constructor({ sources }: Pick<Config, 'sources'>) {
    this.#hasOwnToken = (botId) => ownTokenPosition({ sources }, botId) !== -1;
  }

  get isOn(): boolean {
    return this.refusal !== null || this.shortage !== null;
  }

  /** Why credentials were refused, for everything or for a bot; `null`: not refused. */
  get refusal(): string | null {
    return this.#all ?? this.#bots.values().next().value ?? null;
  }

  /** Why files that need more storage are refused; `null`: not refused. */
  get shortage(): string | null {
    return this.#quota;
  }

  /** Notes a failure; only the first of each kind is kept. */
  note(failure: PlatformFailure, botId: string): void {
    switch (failure.kind) {
      case 'credentials':
        if (failure.scope === 'all' && !this.#hasOwnToken(botId)) this.#all ??= failure.message;
        else if (!this.#bots.has(botId)) this.#bots.set(botId, failure.message);
        break;
      case 'quota':
        this.#quota ??= failure.message;
        break;
      case 'refused':
      case 'transient':
        break;
    }
  }

  /** Returns why nothing can be sent for a bot now, or nothing that needs more storage; `null` if it can. */
  reasonAgainst(botId: string, needsRoom: boolean): string | null {
    const shared = this.#hasOwnToken(botId) ? null : this.#all;
    return shared ?? this.#bots.get(botId) ?? (needsRoom ? this.#quota : null);
  }
}

/** Reports once when the platform begins to refuse everything of a kind, and once when it accepts it again. */
export class RefusalNews {
  readonly #emit: Emit;
  readonly #told = new Set<Refusal>();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  update({ refusal, shortage }: Pick<Blockade, 'refusal' | 'shortage'>): void {
    this.#update('credentials', refusal);
    this.#update('quota', shortage);
  }

  #update(kind: Refusal, reason: string | null): void {
    if (this.#told.has(kind) === (reason !== null)) return;
    if (reason === null) this.#told.delete(kind);
    else this.#told.add(kind);
    this.#emit({ kind: 'refused', what: kind, reason });
  }
}
