import { DatabaseError, type ClusterMembership } from '../../cluster/shared-ledger.ts';
import type { SourceStatus } from '../../domain/status.ts';
import { EMPTY_SOURCE } from '../../sync/plan/overview.ts';
import type { HostReport } from '../daemon/cluster-facts.ts';

/** Reports are not asked for again within this time, milliseconds: hosts change them every few seconds. */
const FRESH_MS = 3000;

/** The longest that a caller waits for reports, milliseconds. */
const PATIENCE_MS = 1000;

/** The reports of all hosts. The ledger is asked only on demand. */
export class HostReports {
  readonly #membership: Pick<ClusterMembership, 'look'>;
  readonly #monotonic: () => number;
  #known: ReadonlyMap<string, HostReport> = new Map();
  #askedAtMs = -Infinity;
  #asking: Promise<void> | null = null;

  /** @param monotonic - milliseconds that never go back. */
  constructor(membership: Pick<ClusterMembership, 'look'>, monotonic: () => number) {
    this.#membership = membership;
    this.#monotonic = monotonic;
  }

  /** Reports of the last answer, by host name. */
  get known(): ReadonlyMap<string, HostReport> {
    return this.#known;
  }

  /** Fetches the reports unless they are fresh. Resolves without an answer too, after a second at the latest. */
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
      // The beats report an unreachable database.
      if (!(error instanceof DatabaseError)) throw error;
    } finally {
      this.#askedAtMs = this.#monotonic();
    }
  }
}

/** Parses a report. It may be of another version that lacks fields, or have been edited. */
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
