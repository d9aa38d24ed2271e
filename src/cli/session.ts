import type { LoadedConfig } from '../config/load-config.ts';
import { renderProblem } from '../config/problem.ts';
import { EXIT } from '../domain/exit-code.ts';
import { createCommandLog } from './render/output.ts';
import type { GlobalOptions } from './global-options.ts';
import { listenForStop } from './signals.ts';
import { load } from '../run/run-base.ts';
import type { Clients } from '../run/platform/clients.ts';
import type { Credentials } from '../run/platform/credentials.ts';
import { noticesIn, withPlatform, type Notices } from '../run/platform/platform-access.ts';
import { SyncError } from '../run/sync-error.ts';

/** The platform clients of one command. */
export interface Session extends Clients {
  readonly credentials: Credentials;
  /** The secrets used so far, which must not appear in the output. */
  readonly secrets: readonly string[];
  /** Aborts when a signal asks the command to end. */
  readonly signal: AbortSignal;
}

/**
 * Runs a command that calls the platform. Returns its exit code, or 130 after a signal; throws `UsageError`.
 *
 * @param name - the command, shown to another process that meets the emulator's lock.
 */
export function withSession(
  options: GlobalOptions,
  name: string,
  task: (session: Session) => Promise<number>,
): Promise<number> {
  const loaded = load(options);
  const log = createCommandLog(options);
  for (const warning of loaded.warnings) log.warn(renderProblem(warning));
  return runSession(loaded, options.emulator, name, noticesIn(log), task);
}

/** Like `withSession`, for a loaded configuration. */
export async function runSession(
  loaded: LoadedConfig,
  useEmulator: boolean,
  name: string,
  notices: Notices,
  task: (session: Session) => Promise<number>,
): Promise<number> {
  const signals = listenForStop();
  try {
    const { env } = process;
    const run = { loaded, useEmulator, env, command: name, notices };
    const exitCode = await withPlatform(run, ({ clients, credentials }) =>
      task({ ...clients, credentials, secrets: credentials.secrets, signal: signals.stop }),
    );
    return signals.stop.aborted ? EXIT.interrupted : exitCode;
  } catch (error) {
    if (signals.stop.aborted && error instanceof SyncError) return EXIT.interrupted;
    throw error;
  } finally {
    signals.release();
  }
}
