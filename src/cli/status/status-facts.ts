import type { DaemonActivity } from '../../sync/events.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Failing, Known, Running, Standing } from '../../domain/status.ts';
import { askDaemon } from '../../service/daemon-socket.ts';
import type { LockHolder } from '../../service/process-lock.ts';
import { EMPTY_SOURCE } from '../../sync/plan/overview.ts';

/** A daemon answers at once, unless it is stopped or overloaded. */
const PATIENCE_MS = 5000;

/** The holder of the state file; a pass has no further fields. */
export type RunningDaemon = LockHolder &
  Partial<DaemonActivity> &
  Running & { readonly notReady?: readonly string[] };

/** The input of `botsync status`: from a running daemon, or from the state file. */
export interface StatusFacts {
  readonly known: Known;
  /** `null` if nothing runs on the state file. */
  readonly daemon: RunningDaemon | null;
}

type AskedFacts =
  | { readonly kind: 'answered'; readonly facts: StatusFacts }
  | { readonly kind: 'absent' }
  | { readonly kind: 'silent'; readonly reason: string };

/** Asks the daemon of a state file. A late answer counts as none. */
export async function askForFacts(stateFile: string, signal?: AbortSignal): Promise<AskedFacts> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const end = signal === undefined ? patience : AbortSignal.any([patience, signal]);
  const answer = await askDaemon(stateFile, 'GET', '/status', end);
  switch (answer.kind) {
    case 'absent':
      return answer;
    case 'failed':
      return { kind: 'silent', reason: answer.reason };
    case 'ok':
      return answer.status === 200
        ? { kind: 'answered', facts: factsIn(answer.body) }
        : { kind: 'silent', reason: `it answered with status ${answer.status}; see its log` };
  }
}

/** Returns the document of `botsync status --json`. */
export function statusDocument({ known, daemon }: StatusFacts, { exitCode }: Standing): object {
  return { ...known, inSync: exitCode === EXIT.ok, daemon };
}

function factsIn(body: string): StatusFacts {
  const { daemon, ...report } = JSON.parse(body) as DaemonReport & { daemon: RunningDaemon };
  const { activity, isFirstPassOver = activity !== undefined && activity !== 'starting' } = daemon;
  return { known: completed(report), daemon: { ...daemon, isFirstPassOver } };
}

/** The answer of a daemon; an older botsync, running until its restart, sends fewer fields. */
interface DaemonReport extends Pick<Known, 'sources' | 'lastPass' | 'lastVerification'> {
  readonly sinceLastPass?: Known['sinceLastPass'];
  readonly cluster?: Known['cluster'];
  readonly pause?: Known['pause'];
  readonly failures: readonly (Omit<Failing, 'retry' | 'retryAt'> &
    Partial<Pick<Failing, 'retry' | 'retryAt'>>)[];
}

function completed(report: DaemonReport): Known {
  const { sources, failures, lastPass, sinceLastPass = null, lastVerification, cluster } = report;
  const { pause = null } = report;
  return {
    sources: sources.map((source) => ({ ...{ name: source.name, ...EMPTY_SOURCE }, ...source })),
    failures: failures.map(({ retry = 'pass', retryAt = null, ...failure }) => ({
      ...failure,
      retry,
      retryAt,
    })),
    ...{ lastPass, sinceLastPass, lastVerification, pause, service: { kind: 'running' } },
    ...(cluster !== undefined && { cluster }),
  };
}

export interface StatusFeed {
  /** Throws `SyncError`. */
  readonly next: (signal?: AbortSignal) => Promise<StatusFacts>;
}

/** The recorded status. */
export interface RecordedFacts {
  /** Throws `SyncError` if the records cannot be read. */
  readonly read: () => Promise<StatusFacts>;
}
