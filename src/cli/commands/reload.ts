import { EXIT } from '../../domain/exit-code.ts';
import { commandDaemon } from '../command-daemon.ts';
import { secretPlace } from '../credential-advice.ts';
import type { ReloadOutcome } from '../../run/api.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { load } from '../../run/run-base.ts';
import { print, printJson } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';

/** A reload waits for an earlier one, and for running work to be handed over. */
const PATIENCE_MS = 60_000;

/**
 * `botsync reload`: has the running daemon reload its configuration and secrets. Returns the exit code; throws
 * `UsageError`.
 */
export async function reload(options: GlobalOptions): Promise<number> {
  const { config } = load(options);
  const answer = await commandDaemon(config.stateFile, {
    target: '/reload',
    patienceMs: PATIENCE_MS,
    otherwise: `start one: botsync sync${commandEnd(options)}`,
  });
  const { problem } = answer as ReloadOutcome;
  if (problem !== null)
    throw new UsageError(
      `not reloaded, the previous configuration stays in use: ${problem}`,
      EXIT.incomplete,
    );
  const { token } = config.platform;
  const stays = token === null || token.kind === 'file' || options.emulator ? null : secretPlace(token);
  if (options.json) printJson({ reloaded: true });
  else if (stays === null) print('The running botsync has reloaded its configuration and secrets.');
  else
    print(
      `The running botsync has reloaded its configuration. Its token comes from ${stays}, which a running process cannot reread: another token needs a restart.`,
    );
  return EXIT.ok;
}
