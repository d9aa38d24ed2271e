import type { PlatformFailure } from '../../domain/failure.ts';
import type { Emit, Refusal } from '../events.ts';

/** What keeps whole groups of files from being sent, found out by the first that tried. */
export class Blockade {
  #all: string | null = null;
  readonly #bots = new Map<string, string>();
  #quota: string | null = null;

  /** Whether anything stands in the way. */
  get isOn(): boolean {
    return this.refusal !== null || this.shortage !== null;
  }

  /** Why credentials were refused, for everything or for a bot; `null` when they were not. */
  get refusal(): string | null {
    return this.#all ?? this.#bots.values().next().value ?? null;
  }

  /** Why nothing is taken that needs more room; `null` when it is. */
  get shortage(): string | null {
    return this.#quota;
  }

  /** Takes note of a failure; the first of its kind is remembered. */
  note(failure: PlatformFailure, botId: string): void {
    switch (failure.kind) {
      case 'credentials':
        if (failure.scope === 'all') this.#all ??= failure.message;
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

  /** Why nothing can be sent for a bot now, or nothing that takes up more room than before; `null` when it can. */
  reasonAgainst(botId: string, needsRoom: boolean): string | null {
    return this.#all ?? this.#bots.get(botId) ?? (needsRoom ? this.#quota : null);
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
