import type { GlobalOptions } from './global-options.ts';
import { UsageError } from './usage-error.ts';

/** Throws `UsageError` for a command on the cluster with `--emulator`: who works with the emulator works alone. */
export function refuseEmulator({ emulator }: Pick<GlobalOptions, 'emulator'>): void {
  if (emulator)
    throw new UsageError(
      '--emulator is for one host alone, without a cluster; leave it out with botsync cluster',
    );
}
