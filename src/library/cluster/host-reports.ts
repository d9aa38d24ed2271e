import { DatabaseError } from '../../cluster/database.ts';
import type { Membership } from '../../cluster/membership.ts';
import { EMPTY_SOURCE, type SourceStatus } from '../../sync/plan/overview.ts';

/** What was asked is not asked again for so long, milliseconds: hosts say something new every few seconds. */
const FRESH_MS = 3000;

/** Whoever looks is kept waiting for so long at most, milliseconds. */
const PATIENCE_MS = 1000;

/** What hosts say of their sources. The ledger is asked only when somebody wants to know. */
export class HostReports {
  readonly #membership: Pick<Membership, 'look'>;
  readonly #monotonic: () => number;
  #known: ReadonlyMap<string, readonly SourceStatus[]> = new Map();
  #askedAtMs = -Infinity;
  #asking: Promise<void> | null = null;

  /** @param monotonic - milliseconds that never go back. */
  constructor(membership: Pick<Membership, 'look'>, monotonic: () => number) {
    this.#membership = membership;
    this.#monotonic = monotonic;
  }

  /** By the host's name, as they were when they were asked for last. */
  get known(): ReadonlyMap<string, readonly SourceStatus[]> {
    return this.#known;
  }

  /** Asks, unless that was done just now. Resolves also where there is no answer, or not yet. */
  async look(): Promise<void> {
    if (this.#monotonic() - this.#askedAtMs < FRESH_MS) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([this.#asking, late]);
    clearTimeout(timer);
  }

  async #ask(): Promise<void> {
    try {
      const { hosts } = await this.#membership.look();
      this.#known = new Map(hosts.map(({ name, report }) => [name, sourcesIn(report)]));
    } catch (error) {
      // The beats tell of it.
      if (!(error instanceof DatabaseError)) throw error;
    } finally {
      this.#askedAtMs = this.#monotonic();
    }
  }
}

/** A report as `DaemonAnswers.report` gives it; a host of another version may leave out some of it. */
function sourcesIn(report: unknown): SourceStatus[] {
  const { sources = [] } = (report ?? {}) as {
    sources?: readonly (Partial<SourceStatus> & { name: string })[];
  };
  return sources.map((source) => ({ ...EMPTY_SOURCE, ...source }));
}
