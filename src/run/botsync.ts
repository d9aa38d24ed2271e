/**
 * botsync as a library: what the command does, for programs. `openSync` opens a configuration; the result makes passes,
 * plans and comparisons, and runs a daemon.
 *
 * @module
 */
export { openSync } from './open-sync.ts';
export { SyncError } from './sync-error.ts';
export type {
  DaemonOptions,
  OpenOptions,
  PassOptions,
  PassResult,
  PlanOptions,
  PlanResult,
  RefusedSource,
  PruneResult,
  ReloadOutcome,
  RunOptions,
  Sync,
  SyncDaemon,
  VerifyOptions,
  VerifyResult,
} from './api.ts';
export type { SyncEvent } from './events.ts';
export type { DaemonObserver, PassObserver, Reporter, SyncObserver, TransferWatch } from './observer.ts';
export type { PassOutcome } from './pass-outcome.ts';
export type { SyncErrorCode, SyncErrorParts } from './sync-error.ts';
export type { ConfigProblem, Position } from '../config/problem.ts';
export type { EventKind, FileEvent, Summary, Transferred } from '../domain/report.ts';
export type { DifferenceReason, Verified } from '../domain/status.ts';
export type { Additions, Quota, Usage, Usages } from '../domain/usage.ts';
export type { Log } from '../service/logger.ts';
export type { ServiceManager } from '../service/systemd-notify.ts';
export type { FileDifference } from '../sync/catalog/compare.ts';
export type { OutgoingFile, Refusal, Trigger, Waiting } from '../sync/events.ts';
export type { UnmatchedPattern } from '../sync/plan/pattern-warnings.ts';
export type { Outage } from '../sync/pass/circuit-breaker.ts';
