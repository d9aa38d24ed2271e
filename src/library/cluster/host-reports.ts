import { DatabaseError } from '../../cluster/database.ts';
import type { Membership } from '../../cluster/membership.ts';
import { EMPTY_SOURCE } from '../../sync/plan/overview.ts';
import { type SourceStatus } from '../../domain/status.ts';

/** What was asked is not asked again for so long, milliseconds: hosts say something new every few seconds. */
const FRESH_MS = 3000;

/** Whoever looks is kept waiting for so long at most, milliseconds. */
const PATIENCE_MS = 1000;

/** What a host says of itself. */
export interface HostReport {
  readonly sources: readonly SourceStatus[];
  /** What the platform said when it refused the credentials of the host; `null`: it does not. */
  readonly refusal: string | null;
}

/** What hosts say of themselves. The ledger is asked only when somebody wants to know. */
export class HostReports {
  readonly #membership: Pick<Membership, 'look'>;
  readonly #monotonic: () => number;
  #known: ReadonlyMap<string, HostReport> = new Map();
  #askedAtMs = -Infinity;
  #asking: Promise<void> | null = null;

  /** @param monotonic - milliseconds that never go back. */
  constructor(membership: Pick<Membership, 'look'>, monotonic: () => number) {
    this.#membership = membership;
    this.#monotonic = monotonic;
  }

  /** By the host's name, as they were when they were asked for last. */
  get known(): ReadonlyMap<string, HostReport> {
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
      this.#known = new Map(
        hosts.flatMap(({ name, report }) => {
          const said = reportIn(report);
          return said === null ? [] : [[name, said] as const];
        }),
      );
    } catch (error) {
      // The beats tell of it.
      if (!(error instanceof DatabaseError)) throw error;
    } finally {
      this.#askedAtMs = this.#monotonic();
    }
  }
}

/** A report as hosts give it with their beats. Another version may leave out some of it, and somebody may have changed it. */
function reportIn(report: unknown): HostReport | null {
  if (report === null) return null;
  const { sources = [], refusal } = report as {
    readonly sources?: readonly (Partial<SourceStatus> & { name: string })[];
    readonly refusal?: unknown;
  };
  return {
    sources: sources.map((source) => ({ ...EMPTY_SOURCE, ...source })),
    refusal: typeof refusal === 'string' ? refusal : null,
  };
}
