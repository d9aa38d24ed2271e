import type { LoadedConfig } from '../../config/load-config.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { ServedCatalog, type ServiceMemory } from '../../sync/catalog/served-catalog.ts';
import { verifyBots, type VerificationInput } from '../../sync/pass/verification.ts';
import type { Verified } from '../../domain/status.ts';
import { platformName, type RunBase } from '../run-base.ts';
import { platformError, SyncError } from '../sync-error.ts';
import { withAccess, type PlatformAccess } from '../platform/platform-access.ts';
import type { VerifyOptions } from '../api.ts';
import type { Stop } from '../stop.ts';
import { withRecords } from '../read-records.ts';

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
    catalog: new ServedCatalog(client, memory, systemClock, feed.warn),
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

/**
 * Creates a memory of unserved operations that reads the state file, and keeps its own notes only until the command
 * ends.
 */
export function memoryOf({ remote }: StateReader): ServiceMemory {
  const noted = new Map<string, ReturnType<ServiceMemory['unserved']>>();
  return {
    unserved: (target, operation) => {
      const own = noted.get(`${target} ${operation}`);
      return own === undefined ? remote.unserved(target, operation) : own;
    },
    noteUnserved: (target, operation, unserved) => noted.set(`${target} ${operation}`, unserved),
    noteServed: (target, operation) => noted.set(`${target} ${operation}`, null),
  };
}

/** Lists the files of the bots and reports each without a local file and without a record. Throws `SyncError`. */
export async function findOrphans(
  base: RunBase,
  loaded: LoadedConfig,
  stop: Stop,
  onOrphan: (orphan: FileDifference) => void,
): Promise<void> {
  const run = { ...base, loaded, options: {}, stop };
  const place = { loaded, platformName: platformName(base.target, loaded.config), env: base.env };
  await withAccess(base, loaded, { command: 'ls', stop: stop.stop }, (access) =>
    withRecords(place, async ({ reader }) => {
      const input = comparison(run, access, reader, memoryOf(reader));
      const found = await verifyBots({
        ...input,
        onDifference: (difference) => {
          if (difference.reason === 'orphan') onOrphan(difference);
        },
        onSame: () => undefined,
      });
      if (found.kind === 'failed') throw platformError('orphans are not known', found.failure, 'reads');
    }),
  );
}
