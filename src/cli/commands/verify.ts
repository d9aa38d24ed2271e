import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { listenForStop } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import { ListingError } from '../../state/listing.ts';
import { countDifferences } from '../../sync/pass/verification.ts';
import { load } from '../../library/load.ts';
import { noticesIn, withPlatform } from '../../library/platform/platform-access.ts';
import { withStateFile } from '../../library/read-state-file.ts';
import { PassView } from '../render/pass-view.ts';
import { UsageError } from '../usage-error.ts';
import type { VerifyOptions } from '../verify-options.ts';
import { compare, comparison, type VerifyRun } from '../../library/verify/compare.ts';
import { memoryOf } from '../../library/verify/service-memory.ts';
import { mend } from '../../library/verify/mend.ts';
import { SyncError } from '../../library/sync-error.ts';

/** `botsync verify`: what the bots have, compared with what was sent. Returns the exit code; throws `UsageError`. */
export async function verify(options: VerifyOptions): Promise<number> {
  keepHeapSmall();
  const loaded = load(options);
  const view = new PassView(options);
  for (const warning of loaded.warnings) view.warn(renderProblem(warning));
  const signals = listenForStop(
    (signal) => {
      view.stopping(signal);
    },
    () => process.exit(EXIT.interrupted),
  );
  try {
    const run = { options, loaded, signals, view };
    const exitCode = options.repair || options.prune ? await mend(run) : await look(run);
    return signals.stop.aborted ? EXIT.interrupted : exitCode;
  } catch (error) {
    if (error instanceof ListingError) throw new UsageError(error.message, EXIT.incomplete);
    if (signals.stop.aborted && error instanceof SyncError) return EXIT.interrupted;
    throw error;
  } finally {
    view.stop();
    signals.release();
  }
}

/** Compares, beside whoever may be writing the state file, and writes nothing. */
async function look(run: VerifyRun): Promise<number> {
  const { options, loaded, signals, view } = run;
  const notices = noticesIn(view.log);
  const platformRun = {
    loaded,
    useEmulator: options.emulator,
    command: 'verify',
    clock: systemClock,
    notices,
  };
  return await withPlatform(platformRun, (access) => {
    signals.stop.addEventListener('abort', () => {
      access.endWaits();
    });
    return withStateFile(loaded.config.stateFile, async ({ reader }) => {
      const input = comparison(run, access, reader, memoryOf(reader));
      const verified = await compare(run, {
        ...input,
        onDifference: () => undefined,
        onSame: () => undefined,
      });
      return countDifferences(verified) + verified.unread > 0 ? EXIT.incomplete : EXIT.ok;
    });
  });
}
