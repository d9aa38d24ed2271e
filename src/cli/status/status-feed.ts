import { statSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { ServiceState, Overview } from '../../domain/status.ts';
import { withStateFile, type RecordsPlace, serviceStateOf } from '../../run/read-state-file.ts';
import { findHolder, type LockHolder } from '../../service/process-lock.ts';
import { overview } from '../../sync/plan/overview.ts';
import { withRetries } from '../../sync/plan/standing.ts';
import { guessStateFiles } from '../../config/find-config.ts';
import { emulatorStateFile, type RunTarget } from '../../run/run-base.ts';
import { type SyncError, problemOf } from '../../run/sync-error.ts';

import { askForFacts, type RecordedFacts, type StatusFacts, type StatusFeed } from './status-facts.ts';

/**
 * The state file is read again after this time even without a change, since its content depends on the time, in
 * milliseconds.
 */
const KEPT_MS = 60_000;

/** File systems may give the same time to all writes within some milliseconds: a stamp this young may miss a change. */
const YOUNG_MS = 2000;

interface Read {
  readonly overview: Overview;
  readonly aliveAtMs: number | null;
  readonly stamp: string;
  readonly atMs: number;
}

/** Asks the daemon, which caches its answer for a while; without an answer reads the records. */
export class RecordsFeed implements StatusFeed {
  readonly #stateFile: string;
  readonly #recorded: RecordedFacts;

  constructor(stateFile: string, recorded: RecordedFacts) {
    this.#stateFile = stateFile;
    this.#recorded = recorded;
  }

  async next(signal?: AbortSignal): Promise<StatusFacts> {
    const asked = await askForFacts(this.#stateFile, signal);
    if (asked.kind === 'answered') return asked.facts;
    const facts = await this.#recorded.read();
    if (asked.kind === 'silent') return withService(facts, { kind: 'silent', reason: asked.reason });
    return facts.known.service.kind === 'running' ? withService(facts, { kind: 'starting' }) : facts;
  }
}

/** Reads the status from a state file, again after it changed. */
export class StateFileFacts implements RecordedFacts {
  readonly #config: Config;
  readonly #platform: string;
  readonly #nowMs: () => number;
  #read: Read | null = null;

  /**
   * @param platform - the platform's name in the records.
   * @param nowMs - epoch milliseconds.
   */
  constructor(config: Config, platform: string, nowMs: () => number) {
    this.#config = config;
    this.#platform = platform;
    this.#nowMs = nowMs;
  }

  async read(): Promise<StatusFacts> {
    const { stateFile } = this.#config;
    const nowMs = this.#nowMs();
    // Take the stamp first, so that the next one detects writes during the read.
    const stamp = stampOf(stateFile, nowMs);
    if (this.#read !== null && this.#read.stamp === stamp && nowMs - this.#read.atMs < KEPT_MS)
      return factsOf(this.#read, findHolder(stateFile));
    return await withStateFile(stateFile, ({ reader, holder }) => {
      const seen = overview(reader, this.#config, this.#platform, nowMs);
      const read = { overview: seen, aliveAtMs: reader.serviceAliveAtMs() };
      this.#read = stamp === null ? null : { ...read, stamp, atMs: nowMs };
      return factsOf(read, holder);
    });
  }
}

function factsOf(
  { overview: seen, aliveAtMs }: Pick<Read, 'overview' | 'aliveAtMs'>,
  holder: LockHolder | null,
): StatusFacts {
  return { known: withRetries(seen, holder && {}, serviceStateOf(holder, aliveAtMs)), daemon: holder };
}

function withService({ known, daemon }: StatusFacts, service: ServiceState): StatusFacts {
  return { known: { ...known, service }, daemon };
}

/** Returns a stamp that every write changes; `null` right after a write. */
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

/** Opens the feed for a configuration: from the daemon, the state file, or the ledger of a cluster. */
export async function openFeed(place: RecordsPlace): Promise<StatusFeed> {
  const { config } = place.loaded;
  if (config.cluster === null)
    return new RecordsFeed(config.stateFile, new StateFileFacts(config, place.platformName, Date.now));
  const { LedgerFacts } = await import('./ledger-facts.ts');
  return new RecordsFeed(config.stateFile, new LedgerFacts(place, Date.now));
}

/** Asks a service that runs with an older version of an invalid configuration. */
export class BrokenConfigFeed implements StatusFeed {
  readonly #target: RunTarget;
  readonly #error: SyncError;

  /** @param error - why it is invalid. */
  constructor(target: RunTarget, error: SyncError) {
    this.#target = target;
    this.#error = error;
  }

  /** Throws the error if no service with this configuration answers. */
  async next(signal?: AbortSignal): Promise<StatusFacts> {
    const { config: file, emulator } = this.#target;
    const stateFiles = emulator ? [emulatorStateFile({ file: resolve(file) })] : guessStateFiles(file);
    for (const stateFile of stateFiles) {
      const asked = await askForFacts(stateFile, signal);
      const facts = asked.kind === 'answered' ? this.#factsOf(asked.facts) : null;
      if (facts !== null) return facts;
    }
    throw this.#error;
  }

  /** Adds the problem to the facts; returns `null` if they are of another configuration. */
  #factsOf({ known, daemon }: StatusFacts): StatusFacts | null {
    if (daemon?.configuration === undefined) return null;
    if (pathOf(daemon.configuration.file) !== pathOf(this.#target.config)) return null;
    // The service may not have read it yet, or may not reload it automatically.
    const problem = daemon.configuration.problem ?? problemOf(this.#error);
    return { known, daemon: { ...daemon, configuration: { ...daemon.configuration, problem } } };
  }
}

/** Resolves links. */
function pathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}
