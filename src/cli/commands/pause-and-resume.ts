import { EXIT } from '../../domain/exit-code.ts';
import type { AskedPause } from '../../domain/status.ts';
import { load } from '../../run/run-base.ts';
import { LONGEST_PAUSE_MS } from '../../service/status-routes.ts';
import { askedPauseWords, pauseWarning } from '../../words/pause.ts';
import { readWait } from '../arguments.ts';
import { commandDaemon, demandReady } from '../command-daemon.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { print, printError, printJson } from '../render/output.ts';

export interface PauseOptions extends GlobalOptions {
  /** A duration; without it, until `botsync resume`. */
  readonly for: string | undefined;
}

const SHORTEST_MS = 1000;

/** `botsync pause`: has the running daemon hold changes back. Returns the exit code; throws `UsageError`. */
export async function pause(options: PauseOptions): Promise<number> {
  const time = options.for;
  const forMs = time === undefined ? null : readWait('--for', time, SHORTEST_MS, LONGEST_PAUSE_MS);
  const answer = (await commandDaemon(load(options).config.stateFile, {
    kind: 'pause',
    terms: { for: forMs === null ? null : String(forMs) },
    otherwise: 'there is nothing to pause',
  })) as { readonly pause: AskedPause | null };
  const asked = demandReady(answer.pause);
  const nowMs = Date.now();
  if (options.json) printJson({ pause: asked });
  else print(askedPauseWords(asked, nowMs, commandEnd(options)));
  const warning = pauseWarning(asked, nowMs);
  if (warning !== null) printError(`Warning: ${warning}`);
  return EXIT.ok;
}

/** `botsync resume`: has the running daemon end a pause. Returns the exit code; throws `UsageError`. */
export async function resume(options: GlobalOptions): Promise<number> {
  const answer = (await commandDaemon(load(options).config.stateFile, {
    kind: 'resume',
    otherwise: `start one, and run this again: botsync sync${commandEnd(options)}`,
  })) as { readonly resumed: boolean | null };
  const resumed = demandReady(answer.resumed);
  if (options.json) printJson({ resumed });
  else if (resumed)
    print(`Resumed: what was held back is sent now. Watch it with: botsync status${commandEnd(options)}`);
  else print('botsync is not paused.');
  return EXIT.ok;
}
