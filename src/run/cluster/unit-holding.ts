import type { Config } from '../../config/config.ts';
import type { Fence } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import type { Holding } from '../holding.ts';
import type { Clients } from '../platform/clients.ts';
import type { WorkedUnit } from './held-unit.ts';
import type { ClusterHost } from './open-cluster.ts';
import { onlySourcesOf, type OwnUnit } from './own-units.ts';
import type { RelativePath } from '../../domain/key.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OptionalFailure } from '../../domain/failure.ts';
import type { FileCatalog } from '../../domain/file-catalog.ts';
import { fingerprintOf } from '../../domain/fingerprint.ts';
import { readMark } from '../../domain/mark.ts';
import { ListingError } from '../../store/listing.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { ask, type AskPorts } from '../../sync/catalog/ask.ts';
import { ServedCatalog } from '../../sync/catalog/served-catalog.ts';
import { noteDifference, noteSame, verifyBots } from '../../sync/pass/verification.ts';
import { targetOf } from '../../sync/sources/source.ts';

interface UnitHoldingInput extends ClusterHost {
  /** Clients whose requests wait for a fence. */
  readonly clientsUnder: (fence: Fence) => Clients;
  readonly othersSettledUntilMs: Holding['othersSettledUntilMs'];
}

/**
 * Returns the holding of a unit that this host has taken. Compares its records with the platform first, if the ledger may have
 * lost some of them. Throws `StateFileError`, `DatabaseError`.
 */
export async function openUnitHolding(
  own: OwnUnit,
  worked: WorkedUnit,
  input: UnitHoldingInput,
): Promise<Holding> {
  const { cluster, platformName, clientsUnder, othersSettledUntilMs, clock, log } = input;
  const { state, lease, stop, abort } = worked;
  const config = (): Config => {
    const now = input.config();
    return onlySourcesOf([own], now, platformName(now));
  };
  const clients = clientsUnder(lease);
  await compareRecords(worked, {
    config: config(),
    platformName: platformName(input.config()),
    catalog: clients.catalog(),
    platformNow: () => clients.files().now(),
    ...{ clock, log },
  });
  return {
    state,
    config,
    clients: () => clientsUnder(lease),
    unit: { name: own.name, lease, conversations: cluster.conversations },
    checkInPlace: () => {
      state.checkInPlace();
    },
    ...{ othersSettledUntilMs, stop, abort },
  };
}

/** Wait before a failed comparison is retried, milliseconds. */
const AGAIN_MS = 10_000;

interface ComparedWith {
  /** Contains only the sources of the unit. */
  readonly config: Config;
  readonly platformName: string;
  /** `null`: the platform may not be asked. */
  readonly catalog: FileCatalog | null;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A file of this unit that the platform has, without a local file and without a record. */
interface Orphan {
  readonly target: number;
  readonly found: FileDifference;
}

/**
 * Compares the records of a unit with the platform if the ledger may have lost some, before anything is sent, skipped
 * or removed. Files that differ are sent again; files without a record are recorded. If the platform serves no list,
 * everything is sent again. Throws `StateFileError`, `DatabaseError`.
 */
export async function compareRecords(worked: WorkedUnit, using: ComparedWith): Promise<void> {
  const { name, state, stop, isInDoubt } = worked;
  if (!isInDoubt) return;
  const { clock, log } = using;
  log.warn(`the database went back in time: the records of ${name} are compared with the platform first`);
  let told: string | null = null;
  while (!stop.aborted) {
    const failure = await compareOnce(worked, using);
    if (failure === null || failure.kind === 'not-served') {
      if (failure !== null) state.remote.doubt(null);
      await state.settled();
      await worked.compared();
      return;
    }
    if (told !== failure.message)
      log.warn(`the records of ${name} cannot be compared with the platform yet: ${failure.message}`);
    told = failure.message;
    await clock.sleep(AGAIN_MS, stop);
  }
}

/** Returns why the comparison failed; `null`: it is complete. */
async function compareOnce(
  { state, stop }: WorkedUnit,
  { config, platformName, catalog: client, platformNow, clock, log }: ComparedWith,
): Promise<OptionalFailure | null> {
  if (client === null) return { kind: 'not-served', message: 'platform.operations is "specified"' };
  const catalog = new ServedCatalog(client, state.remote, clock, (message) => {
    log.warn(message);
  });
  const ports: AskPorts = {
    clock,
    random: Math.random,
    patienceMs: config.upload.giveUpAfterMs,
    onRetry: () => undefined,
    stop,
  };
  const orphans: Orphan[] = [];
  const found = await verifyBots({
    ...{ config, platformName, state, catalog, ports, readDigest: null },
    platformNow,
    isBusy: () => false,
    onDifference: (difference, target) => {
      const { reason, key, noted } = difference;
      if (reason === 'orphan') orphans.push({ target, found: difference });
      // A file that looks like somebody else's may be a later upload of this unit.
      else if (noted === 'content' || noted === 'replaced') state.remote.doubt({ target, key });
      else noteDifference(state, target, difference, clock.now());
    },
    onSame: (sent, there, target) => {
      noteSame(state, target, sent, there, clock.now());
    },
  }).catch((error: unknown) => {
    if (!(error instanceof ListingError)) throw error;
    return { kind: 'failed' as const, failure: { kind: 'transient' as const, message: error.message } };
  });
  if (found.kind === 'failed') return found.failure;
  for (const source of config.sources)
    state.remote.adoptAgain(state.targetId(targetOf(config, source, platformName)), source.name);
  for (const orphan of orphans) {
    const failure = await takeOver(orphan, { config, state, catalog, ports });
    if (failure !== null) return failure;
  }
  return null;
}

interface TakingOver {
  readonly config: Config;
  readonly state: WorkedUnit['state'];
  readonly catalog: ServedCatalog;
  readonly ports: AskPorts;
}

/** Records an orphan, so that it is removed like any deleted file. */
async function takeOver(
  { target, found: { key, source, path } }: Orphan,
  { config, state, catalog, ports }: TakingOver,
): Promise<OptionalFailure | null> {
  const botId = config.sources.find(({ name }) => name === source)?.botId;
  if (botId === undefined || path === null) return null;
  const answered = await ask((signal) => catalog.get({ target, botId }, key, signal), ports);
  if (answered.kind === 'failed') return answered.failure.kind === 'not-found' ? null : answered.failure;
  const { id, metadata, expiresAtMs } = answered.value;
  const mark = readMark(metadata);
  if (mark === null) return null;
  const sizeBytes = answered.value.sizeBytes ?? 0;
  const adopted = {
    ...{ source, path: path as RelativePath, trusted: false, settingsDigest: '', sizeBytes },
    fingerprint: fingerprintOf({ size: BigInt(sizeBytes), mtimeNs: 0n, ctimeNs: null, ino: null }),
    ...{ sha256: Buffer.from(mark.sha256, 'hex'), remoteId: id, verdict: null, askAtMs: null },
    ...{ expiresAtMs, renewAtMs: null },
  };
  state.removals.dropPutAway({ target, key });
  state.remote.recordAdopted({ target, key }, adopted, ports.clock.now());
  return null;
}
