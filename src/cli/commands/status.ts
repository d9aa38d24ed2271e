import type { Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Usages } from '../../domain/usage.ts';
import { askDaemon } from '../../service/ask-daemon.ts';
import type { LockHolder } from '../../service/process-lock.ts';
import type { DaemonActivity } from '../../sync/daemon/daemon-observer.ts';
import { EMPTY_SOURCE, overview } from '../../sync/plan/overview.ts';
import { standingOf, withRetries, type Failing, type Known, type Running } from '../../sync/plan/standing.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../library/load.ts';
import { withStateFile } from '../../library/read-state-file.ts';
import { print, printError } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { paintFor } from '../render/paint.ts';
import { describeStatus } from '../../words/status.ts';
import { describeUsage, usageForPrograms } from '../../words/usage.ts';
import type { Session } from '../session.ts';
import { whyNotAsked } from '../../library/usage.ts';

/** A daemon answers at once, unless it is stopped or swamped. */
const PATIENCE_MS = 5000;

/** What is known, by a running daemon or by the state file alone. */
interface Answer {
  readonly known: Known;
  /** Who runs on the state file. */
  readonly daemon: RunningDaemon | null;
}

/** A running botsync; a pass tells no more than who it is. */
type RunningDaemon = LockHolder &
  Partial<DaemonActivity> &
  Running & { readonly notReady?: readonly string[] };

/** Options of `botsync status`. */
export interface StatusOptions extends GlobalOptions {
  /** Whether the platform is asked for its quotas; without that nothing is. */
  readonly usage: boolean;
}

/**
 * `botsync status`: what a running daemon says, else what the state file knows. Returns the exit code, which says how things
 * stand (see `Standing`). Throws `UsageError`.
 */
export async function status(options: StatusOptions): Promise<number> {
  const { config } = load(options);
  const { known, daemon } =
    (await askForStatus(config.stateFile)) ?? (await readStatus(config, platformName(options, config)));
  const standing = standingOf(known, daemon);
  const tell = (asked: Usages | null): void => {
    if (options.json) {
      const usage = options.usage && { usage: asked && usageForPrograms(asked, null) };
      printJson({ ...known, inSync: standing.exitCode === EXIT.ok, daemon, ...usage });
    } else {
      const nextStep = `botsync sync --once${alike(options)}`;
      const isAsked = config.platform.operations !== 'specified';
      const words = { nowMs: Date.now(), nextStep, isAsked, paint: paintFor(1) };
      const lines = describeStatus(known, standing, daemon, words);
      if (asked !== null)
        lines.push('', "Usage, in the platform's units:", ...indented(describeUsage(asked, null)));
      print(lines.join('\n'));
    }
  };
  if (options.usage) {
    const { withSession } = await import('../session.ts');
    const exitCode = await withSession(options, 'status', (session) => withUsage(session, tell));
    return exitCode === EXIT.ok ? standing.exitCode : exitCode;
  }
  tell(null);
  return standing.exitCode;
}

/** Tells what is known with the usage, and without it where the platform does not tell. */
async function withUsage({ usage, signal }: Session, tell: (asked: Usages | null) => void): Promise<number> {
  const asked = await usage().all(signal);
  tell(asked.kind === 'ok' ? asked.value : null);
  if (asked.kind === 'failed' && !signal.aborted) printError(whyNotAsked(asked));
  return EXIT.ok;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

/** `null` when no daemon runs there, or none that answers us: its state file can be read all the same. */
async function askForStatus(stateFile: string): Promise<Answer | null> {
  const answer = await askDaemon(stateFile, 'GET', '/status', AbortSignal.timeout(PATIENCE_MS));
  if (answer.kind !== 'ok' || answer.status !== 200) return null;
  const { daemon, ...told } = JSON.parse(answer.body) as Told & { daemon: RunningDaemon };
  const { activity, isFirstPassOver = activity !== undefined && activity !== 'starting' } = daemon;
  return { known: completed(told), daemon: { ...daemon, isFirstPassOver } };
}

/** What a daemon answers; one of an older botsync, which runs until it is restarted, tells less. */
interface Told extends Pick<Known, 'sources' | 'lastPass' | 'lastVerification'> {
  readonly sinceLastPass?: Known['sinceLastPass'];
  readonly failures: readonly (Omit<Failing, 'retry' | 'retryAt'> &
    Partial<Pick<Failing, 'retry' | 'retryAt'>>)[];
}

function completed({ sources, failures, lastPass, sinceLastPass = null, lastVerification }: Told): Known {
  return {
    sources: sources.map((source) => ({ ...{ name: source.name, ...EMPTY_SOURCE }, ...source })),
    failures: failures.map(({ retry = 'pass', retryAt = null, ...failure }) => ({
      ...failure,
      retry,
      retryAt,
    })),
    ...{ lastPass, sinceLastPass, lastVerification },
  };
}

function readStatus(config: Config, platform: string): Promise<Answer> {
  return withStateFile(config.stateFile, ({ reader, holder }) => ({
    known: withRetries(overview(reader, config, platform, Date.now()), holder && {}),
    daemon: holder,
  }));
}
