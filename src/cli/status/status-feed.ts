import { statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { withStateFile } from '../../library/read-state-file.ts';
import { findHolder } from '../../service/process-lock.ts';
import { overview, type Overview } from '../../sync/plan/overview.ts';
import { withRetries } from '../../sync/plan/standing.ts';
import type { ClusterFeed } from './cluster-feed.ts';
import { askForFacts, type StatusFacts } from './status-facts.ts';

/** Where facts are from: a daemon; the state file, where no daemon runs; or the state file, as the daemon gave no answer. */
export type FactsOrigin =
  | { readonly kind: 'daemon' }
  | { readonly kind: 'state-file' }
  | { readonly kind: 'silent-daemon'; readonly reason: string };

/** The facts of a moment. */
export interface SeenFacts extends StatusFacts {
  readonly origin: FactsOrigin;
}

/** What the state file said is read again after this time though nothing wrote to it, as some of it depends on the time. */
const KEPT_MS = 60_000;

/** File systems give a stamp to all that is written within some milliseconds: a stamp this young may miss a change. */
const YOUNG_MS = 2000;

interface Read {
  readonly overview: Overview;
  readonly stamp: string;
  readonly atMs: number;
}

/**
 * Asks how things stand, again and again: a daemon, which gives out what it has read for a while, else the state file, which
 * is read again when somebody has written to it.
 */
export class StatusFeed {
  readonly #config: Config;
  readonly #platform: string;
  readonly #nowMs: () => number;
  readonly #cluster: ClusterFeed | null;
  #read: Read | null = null;

  /**
   * @param platform - what the records call the platform.
   * @param nowMs - epoch milliseconds.
   * @param cluster - for a host of a cluster.
   */
  constructor(config: Config, platform: string, nowMs: () => number, cluster: ClusterFeed | null = null) {
    this.#cluster = cluster;
    this.#config = config;
    this.#platform = platform;
    this.#nowMs = nowMs;
  }

  /** Asks once. Throws `SyncError` for a state file that cannot be read. */
  async next(signal?: AbortSignal): Promise<SeenFacts> {
    const asked = await askForFacts(this.#config.stateFile, signal);
    switch (asked.kind) {
      case 'told':
        return { ...asked.facts, origin: { kind: 'daemon' } };
      case 'absent':
        return { ...(await this.#readFacts()), origin: { kind: 'state-file' } };
      case 'silent':
        return { ...(await this.#readFacts()), origin: { kind: 'silent-daemon', reason: asked.reason } };
    }
  }

  async #readFacts(): Promise<StatusFacts> {
    const { stateFile } = this.#config;
    const nowMs = this.#nowMs();
    if (this.#cluster !== null) return await this.#cluster.read(nowMs);
    // Taken first: what is written while the file is read is found by the next stamp.
    const stamp = stampOf(stateFile, nowMs);
    if (this.#read !== null && this.#read.stamp === stamp && nowMs - this.#read.atMs < KEPT_MS) {
      const holder = findHolder(stateFile);
      return { known: withRetries(this.#read.overview, holder && {}), daemon: holder };
    }
    return await withStateFile(stateFile, ({ reader, holder }) => {
      const seen = overview(reader, this.#config, this.#platform, nowMs);
      this.#read = stamp === null ? null : { overview: seen, stamp, atMs: nowMs };
      return { known: withRetries(seen, holder && {}), daemon: holder };
    });
  }
}

/** What changes when somebody writes to a state file; `null`: it was written to just now. */
function stampOf(stateFile: string, nowMs: number): string | null {
  const stamps = [stateFile, `${stateFile}-wal`].map((file) => {
    try {
      const { dev, ino, size, mtimeNs, mtimeMs } = statSync(file, { bigint: true });
      return { text: `${dev}:${ino}:${size}:${mtimeNs}`, changedMs: Number(mtimeMs) };
    } catch (error) {
      return { text: (error as NodeJS.ErrnoException).code ?? '', changedMs: -Infinity };
    }
  });
  if (stamps.some(({ changedMs }) => changedMs > nowMs - YOUNG_MS)) return null;
  return stamps.map(({ text }) => text).join(' ');
}
