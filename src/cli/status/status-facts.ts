import { EXIT } from '../../domain/exit-code.ts';
import { askDaemon } from '../../service/ask-daemon.ts';
import type { LockHolder } from '../../service/process-lock.ts';
import type { DaemonActivity } from '../../sync/daemon/daemon-observer.ts';
import { EMPTY_SOURCE } from '../../sync/plan/overview.ts';
import {
  standingOf,
  type Failing,
  type Known,
  type Running,
  type Standing,
} from '../../sync/plan/standing.ts';

/** A daemon answers at once, unless it is stopped or swamped. */
const PATIENCE_MS = 5000;

/** A running botsync; a pass tells no more than who it is. */
export type RunningDaemon = LockHolder &
  Partial<DaemonActivity> &
  Running & { readonly notReady?: readonly string[] };

/** What `botsync status` shows: known by a running daemon, or by the state file alone. */
export interface StatusFacts {
  readonly known: Known;
  /** Who runs on the state file. */
  readonly daemon: RunningDaemon | null;
}

/** What a daemon answered: the facts, that there is none, or why it gave none. */
export type AskedFacts =
  | { readonly kind: 'told'; readonly facts: StatusFacts }
  | { readonly kind: 'absent' }
  | { readonly kind: 'silent'; readonly reason: string };

/** Asks the daemon on a state file. An answer that is long in coming counts as none. */
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
        ? { kind: 'told', facts: factsOf(answer.body) }
        : { kind: 'silent', reason: `it answered with status ${answer.status}; see its log` };
  }
}

/** What `botsync status --json` prints. */
export function statusDocument({ known, daemon }: StatusFacts, { exitCode }: Standing): object {
  return { ...known, inSync: exitCode === EXIT.ok, daemon };
}

/** How things stand by these facts. */
export function standingByFacts({ known, daemon }: StatusFacts): Standing {
  return standingOf(known, daemon);
}

function factsOf(body: string): StatusFacts {
  const { daemon, ...told } = JSON.parse(body) as Told & { daemon: RunningDaemon };
  const { activity, isFirstPassOver = activity !== undefined && activity !== 'starting' } = daemon;
  return { known: completed(told), daemon: { ...daemon, isFirstPassOver } };
}

/** What a daemon answers; one of an older botsync, which runs until it is restarted, tells less. */
interface Told extends Pick<Known, 'sources' | 'lastPass' | 'lastVerification'> {
  readonly sinceLastPass?: Known['sinceLastPass'];
  readonly cluster?: Known['cluster'];
  readonly failures: readonly (Omit<Failing, 'retry' | 'retryAt'> &
    Partial<Pick<Failing, 'retry' | 'retryAt'>>)[];
}

function completed(told: Told): Known {
  const { sources, failures, lastPass, sinceLastPass = null, lastVerification, cluster } = told;
  return {
    sources: sources.map((source) => ({ ...{ name: source.name, ...EMPTY_SOURCE }, ...source })),
    failures: failures.map(({ retry = 'pass', retryAt = null, ...failure }) => ({
      ...failure,
      retry,
      retryAt,
    })),
    ...{ lastPass, sinceLastPass, lastVerification },
    ...(cluster !== undefined && { cluster }),
  };
}
