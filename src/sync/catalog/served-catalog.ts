import type { Clock } from '../../domain/clock.ts';
import { failed, type OptionalFailure, type Outcome } from '../../domain/failure.ts';
import {
  type CatalogFile,
  type CatalogPage,
  type CatalogQuery,
  type FactsUpdate,
  type FileCatalog,
  type OptionalOperation,
  LOSSES,
} from '../../domain/file-catalog.ts';
import type { UnservedOperation } from '../../store/remote.ts';

/** The delay before an operation that was not served is retried, milliseconds. */
const ASK_AGAIN_MS = 86_400_000;

/** Remembers which operations were not served. */
export interface ServiceMemory {
  readonly unserved: (target: number, operation: OptionalOperation) => UnservedOperation | null;
  readonly noteUnserved: (target: number, operation: OptionalOperation, unserved: UnservedOperation) => void;
  readonly noteServed: (target: number, operation: OptionalOperation) => void;
}

/**
 * Accesses the platform's files by the operations that it serves. An operation that is not served is not tried for a
 * day.
 */
export class ServedCatalog {
  readonly #catalog: FileCatalog;
  readonly #memory: ServiceMemory;
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  /** Operations that were tried with the current token. */
  readonly #asked = new Set<string>();

  /** @param warn - called once for each operation that is not served. */
  constructor(catalog: FileCatalog, memory: ServiceMemory, clock: Clock, warn: (message: string) => void) {
    this.#catalog = catalog;
    this.#memory = memory;
    this.#clock = clock;
    this.#warn = warn;
  }

  /**
   * Returns whether an operation may be tried at a target. One that was only forbidden to the token is retried
   * after a restart or reload, because the token may be another.
   */
  serves(target: number, operation: OptionalOperation): boolean {
    const isNewToken = !this.#asked.has(nameOf(target, operation));
    if (isNewToken && this.#memory.unserved(target, operation)?.isByToken === true) return true;
    return mayBeServed(this.#memory.unserved(target, operation), this.#clock.now());
  }

  /** Lists files of a bot: a page, or by their ids. */
  list(
    at: BotAtTarget,
    query: CatalogQuery,
    signal: AbortSignal,
  ): Promise<Outcome<CatalogPage, OptionalFailure>> {
    return this.#ask(at, 'list', () => this.#catalog.list(at.botId, query, signal));
  }

  /** Gets a file of a bot by its id or key. */
  get(at: BotAtTarget, name: string, signal: AbortSignal): Promise<Outcome<CatalogFile, OptionalFailure>> {
    return this.#ask(at, 'get', () => this.#catalog.get(at.botId, name, signal));
  }

  /** Changes the settings of a file without sending its content. */
  update(
    at: BotAtTarget,
    id: string,
    facts: FactsUpdate,
    signal: AbortSignal,
  ): Promise<Outcome<CatalogFile, OptionalFailure>> {
    return this.#ask(at, 'update', () => this.#catalog.update(at.botId, id, facts, signal));
  }

  delete(at: BotAtTarget, id: string, signal: AbortSignal): Promise<Outcome<null, OptionalFailure>> {
    return this.#ask(at, 'delete', () => this.#catalog.delete(at.botId, id, signal));
  }

  async #ask<T>(
    { target, botId }: BotAtTarget,
    operation: OptionalOperation,
    request: () => Promise<Outcome<T, OptionalFailure>>,
  ): Promise<Outcome<T, OptionalFailure>> {
    const known = this.#memory.unserved(target, operation);
    if (known !== null && !this.serves(target, operation))
      return failed({ kind: 'not-served', message: known.reason });
    this.#asked.add(nameOf(target, operation));
    const answered = await request();
    if (answered.kind === 'failed' && answered.failure.kind === 'not-served') {
      const { message, isByToken = false } = answered.failure;
      // Concurrent requests may have had the same answer.
      const wasKnown = this.#memory.unserved(target, operation) !== null;
      this.#memory.noteUnserved(target, operation, {
        reason: message,
        askedAtMs: this.#clock.now(),
        isByToken,
      });
      if (!wasKnown)
        this.#warn(
          `bot ${botId}: the operation "${operation}" is not served, so ${LOSSES[operation]}: ${message}; botsync tries again in a day${isByToken ? ', after a reload or a restart' : ''}`,
        );
    } else if (known !== null && (answered.kind === 'ok' || answered.failure.kind === 'not-found'))
      this.#memory.noteServed(target, operation);
    return answered;
  }
}

/**
 * Returns whether an operation that was not served (`null`: not known) may be tried. `nowMs`: epoch
 * milliseconds.
 */
export function mayBeServed(unserved: UnservedOperation | null, nowMs: number): boolean {
  if (unserved === null) return true;
  const ageMs = nowMs - unserved.askedAtMs;
  return ageMs < 0 || ageMs >= ASK_AGAIN_MS;
}

function nameOf(target: number, operation: OptionalOperation): string {
  return `${target} ${operation}`;
}

/** A bot, and the number of its target. */
export interface BotAtTarget {
  readonly target: number;
  readonly botId: string;
}
