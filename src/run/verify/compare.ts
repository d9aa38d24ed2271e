import type { LoadedConfig } from '../../config/load-config.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { ServedCatalog, type ServiceMemory } from '../../sync/catalog/served-catalog.ts';
import { verifyBots, type VerificationInput } from '../../sync/pass/verification.ts';
import type { Verified } from '../../domain/status.ts';
import { platformName, type RunBase } from '../run-base.ts';
import { platformError, SyncError } from '../sync-error.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import type { VerifyOptions } from '../api.ts';
import type { Stop } from '../stop.ts';

export interface VerifyRun extends RunBase {
  readonly options: VerifyOptions;
  readonly loaded: LoadedConfig;
  readonly stop: Stop;
}

/** Returns the input of a comparison, without the callbacks. Throws `SyncError` if files cannot be listed. */
export function comparison(
  { target, feed, options, loaded, stop }: VerifyRun,
  { clients }: PlatformAccess,
  state: StateReader,
  memory: ServiceMemory,
): Omit<VerificationInput, 'onDifference' | 'onSame'> {
  const { config } = loaded;
  const client = clients.catalog();
  if (client === null)
    throw new SyncError('not-served', {
      place: 'platform.operations',
      reason: 'is "specified": the files of the bots cannot be listed, so nothing can be compared',
      fix: 'remove it, or write "auto"',
    });
  const contents = clients.contents();
  const aheadMs = state.platformAheadMs();
  return {
    config,
    platformName: platformName(target, config),
    state,
    catalog: new ServedCatalog(client, memory, systemClock, (message) => {
      feed.warn(message);
    }),
    ports: {
      clock: systemClock,
      random: Math.random,
      patienceMs: config.upload.giveUpAfterMs,
      onRetry: (reason, delayMs) => {
        feed.emit({ kind: 'retrying', path: '', reason, delayMs });
      },
      stop: stop.stop,
    },
    platformNow: () => systemClock.now() + aheadMs,
    isBusy: () => false,
    readDigest: options.content === true ? (url, signal) => contents.digestOf(url, signal) : null,
  };
}

/** Compares, and reports differences and the result. Throws `SyncError` if the files of the bots cannot be listed. */
export async function compare({ feed }: VerifyRun, input: VerificationInput): Promise<Verified> {
  const onDifference = (difference: FileDifference, target: number): void => {
    feed.emit({ kind: 'difference', difference });
    input.onDifference(difference, target);
  };
  const verified = await verifyBots({ ...input, onDifference });
  if (verified.kind === 'failed') {
    const { failure } = verified;
    const what =
      failure.kind === 'not-served'
        ? 'the files of the bots are not known, and nothing was compared'
        : 'the files of a bot could not be listed';
    throw platformError(what, failure, 'reads');
  }
  feed.emit({ kind: 'verified', verified: verified.value });
  return verified.value;
}
