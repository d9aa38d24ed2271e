import { randomUUID } from 'node:crypto';
import { Budget, type BudgetState } from '../../cluster/budget.ts';
import { PAUSE_CHANNEL } from '../../cluster/share-table.ts';
import type { Config } from '../../config/config.ts';
import { beatMs } from '../../domain/lease.ts';
import type { PlatformGate } from '../../platform/platform-gate.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { Cluster } from './open-cluster.ts';

/** What a host keeps to the budget of its cluster with. */
export interface HostBudgetInput {
  readonly cluster: Cluster;
  readonly config: () => Config;
  /** What all requests to the platform pass. */
  readonly gate: PlatformGate;
}

/** Has the requests of a host go at its share of the budget. */
export class HostBudget {
  readonly #cluster: Cluster;
  readonly #budget: Budget;

  constructor({ cluster, config, gate }: HostBudgetInput) {
    const { host, schema, requestsPerSecond, leaseMs, budget: name } = cluster.config;
    const { workspaceId, baseUrl } = config().platform;
    const budget = new Budget(
      {
        ...{ schema, host, requestsPerSecond, instance: randomUUID() },
        budget: name ?? workspaceId ?? baseUrl,
        grantMs: leaseMs,
        beatMs: beatMs(leaseMs),
      },
      cluster.database.sql,
      systemClock,
    );
    budget.wanted = () => gate.wanted;
    budget.onShare((share) => {
      gate.setShare(share);
    });
    budget.onPause((ms) => {
      gate.pause(ms);
    });
    gate.onAskedPause((ms) => {
      budget.notePause(ms);
    });
    this.#cluster = cluster;
    this.#budget = budget;
  }

  /** How it stands. */
  get state(): BudgetState {
    return this.#budget.state;
  }

  /** Takes part in the budget while something runs. */
  async during(run: () => Promise<void>): Promise<void> {
    const { database, config } = this.#cluster;
    const listening = new AbortController();
    const hearing = database.listen(
      PAUSE_CHANNEL,
      (payload) => {
        this.#budget.heardPause(payload);
      },
      (signal) => systemClock.sleep(beatMs(config.leaseMs), signal),
      listening.signal,
    );
    this.#budget.start();
    try {
      await run();
    } finally {
      listening.abort();
      await this.#budget.close();
      await hearing;
    }
  }
}
