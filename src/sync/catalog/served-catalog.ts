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

/** An operation that was not served is asked for again after so long, milliseconds. */
const ASK_AGAIN_MS = 86_400_000;

/** Where it is remembered that operations were not served. */
export interface ServiceMemory {
  readonly unserved: (target: number, operation: OptionalOperation) => UnservedOperation | null;
  readonly noteUnserved: (target: number, operation: OptionalOperation, unserved: UnservedOperation) => void;
  readonly noteServed: (target: number, operation: OptionalOperation) => void;
}

/** What the platform has, asked only for what it serves: an operation that it does not serve is left alone for a day. */
export class ServedCatalog {
  readonly #catalog: FileCatalog;
  readonly #memory: ServiceMemory;
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  /** What was asked for under the token of now. */
  readonly #asked = new Set<string>();

  /** @param warn - told once of each operation that is not served. */
  constructor(catalog: FileCatalog, memory: ServiceMemory, clock: Clock, warn: (message: string) => void) {
    this.#catalog = catalog;
    this.#memory = memory;
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Whether an operation may be asked for at a target. One that only the token may not is asked for once again: it may be another. */
  serves(target: number, operation: OptionalOperation): boolean {
    const isNewToken = !this.#asked.has(nameOf(target, operation));
    if (isNewToken && this.#memory.unserved(target, operation)?.isByToken === true) return true;
    return mayBeServed(this.#memory.unserved(target, operation), this.#clock.now());
  }

  /** Files of a bot, a page or some by their ids. */
  list(
    at: BotAtTarget,
    query: CatalogQuery,
    signal: AbortSignal,
  ): Promise<Outcome<CatalogPage, OptionalFailure>> {
    return this.#ask(at, 'list', () => this.#catalog.list(at.botId, query, signal));
  }

  /** A file of a bot by its id or its key. */
  get(at: BotAtTarget, name: string, signal: AbortSignal): Promise<Outcome<CatalogFile, OptionalFailure>> {
    return this.#ask(at, 'get', () => this.#catalog.get(at.botId, name, signal));
  }

  /** Changes what is told of a file without sending its content. */
  update(
    at: BotAtTarget,
    id: string,
    facts: FactsUpdate,
    signal: AbortSignal,
  ): Promise<Outcome<CatalogFile, OptionalFailure>> {
    return this.#ask(at, 'update', () => this.#catalog.update(at.botId, id, facts, signal));
  }

  /** Deletes a file. */
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
      // Others may have asked, and been told, at the same time.
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

/** Whether an operation may be asked for that was not served once (`null`: never). `nowMs`: epoch milliseconds. */
export function mayBeServed(unserved: UnservedOperation | null, nowMs: number): boolean {
  if (unserved === null) return true;
  const ageMs = nowMs - unserved.askedAtMs;
  return ageMs < 0 || ageMs >= ASK_AGAIN_MS;
}

function nameOf(target: number, operation: OptionalOperation): string {
  return `${target} ${operation}`;
}

/** A bot, and the number of the target that stands for it. */
export interface BotAtTarget {
  readonly target: number;
  readonly botId: string;
}
