import type { LoadedConfig } from '../config/load-config.ts';
import { EXIT } from '../domain/exit-code.ts';
import { askDaemon } from '../service/daemon-socket.ts';
import type { AskedOfHolders, AskedHolders } from './ask-holders.ts';
import { findHolder, type LockHolder } from '../service/process-lock.ts';
import { UsageError } from './usage-error.ts';
import { serviceStateOf } from '../run/read-state-file.ts';
import type { StateReader } from '../store/state-reader.ts';
import { describeNoService } from '../words/service.ts';
import { printError } from './render/output.ts';

export interface DaemonCommand {
  readonly kind: 'approve' | 'pause' | 'prune' | 'reload' | 'rescan' | 'resume';
  /** Those that are `null` are not sent. */
  readonly terms?: Readonly<Record<string, string | null>>;
  /** Limit on the answer, in milliseconds; exceeded only if the daemon is stopped or overloaded. */
  readonly patienceMs?: number;
  /** Advice without a running daemon, after "no botsync is running on this state file; ". */
  readonly otherwise: string;
}

const PATIENCE_MS = 10_000;

/**
 * Has the running daemon of a state file carry out a command and returns its JSON answer. Throws `UsageError`, with
 * the exit code of a failed command, if no daemon runs, or if it does not answer, is too old or cannot do it now.
 */
export async function commandDaemon(
  stateFile: string,
  { kind, terms = {}, patienceMs = PATIENCE_MS, otherwise }: DaemonCommand,
): Promise<unknown> {
  const given = Object.entries(terms).filter((term): term is [string, string] => term[1] !== null);
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  const answer = await askDaemon(stateFile, 'POST', `/${kind}${query}`, AbortSignal.timeout(patienceMs));
  switch (answer.kind) {
    case 'absent':
      throw failed(`no botsync is running on this state file; ${otherwise}`);
    case 'failed':
      throw failed(answer.reason);
    case 'ok':
      break;
  }
  if (answer.status === 404) throw failed('the running botsync is an older version; restart it');
  if (answer.status !== 200) throw failed(`the running botsync reports: ${answer.body.trim()}`);
  const { trouble = null, ...result } = JSON.parse(answer.body) as { readonly trouble?: string | null };
  if (trouble !== null) throw failed(trouble);
  return result;
}

/** Returns what a daemon did; throws `UsageError` if there is nothing because it is not ready. */
export function demandReady<Result>(result: Result | null): Result {
  if (result === null) throw failed('botsync is starting or stopping');
  return result;
}

function failed(message: string): UsageError {
  return new UsageError(message, EXIT.incomplete);
}

/**
 * Asks the other hosts of a cluster if no daemon runs on this host. `isHere`: the daemon of this host must be
 * asked, as always without a cluster. Throws `UsageError`.
 */
export async function askOthers(loaded: LoadedConfig, wanted: AskedOfHolders): Promise<AskedHolders> {
  const { cluster, stateFile } = loaded.config;
  // The daemon of this host forwards what concerns other hosts.
  if (cluster === null || findHolder(stateFile) !== null) return { others: [], isHere: true };
  const { askHolders } = await import('./ask-holders.ts');
  return await askHolders(loaded, process.env, wanted);
}

/** Prints a note to standard error if the output is old, because the service does not run. */
export function printNoService(holder: LockHolder | null, reader: StateReader): void {
  const note = describeNoService(serviceStateOf(holder, reader.serviceAliveAtMs()), Date.now(), false);
  if (note !== null) printError(note);
}
