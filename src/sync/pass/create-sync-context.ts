import { setMaxListeners } from 'node:events';
import { realTimer } from '../../service/system-clock.ts';
import { Blockade } from './blockade.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { ServedCatalog } from '../catalog/served-catalog.ts';
import { Claims } from '../plan/claims.ts';
import { IndexWarnings, PatternWarnings } from '../plan/pattern-warnings.ts';
import { Transfers } from './transfers.ts';
import { Roots } from '../sources/directory-identity.ts';
import { newRound, type SyncContext, type SyncContextInput } from './sync-context.ts';
import { targetOf } from '../sources/source.ts';
import { Confirmations } from './confirmations.ts';

/**
 * In a longer outage, watched files do not wait, milliseconds: they would keep passes from ending. Also, a single file
 * that the platform cannot handle looks like an outage as long as nothing else is sent.
 */
const PARK_AFTER_MS = 60_000;

/** Creates a context. Nothing runs yet. */
export function createSyncContext(input: SyncContextInput): SyncContext {
  const { config, clock, emit, waitLimits } = input;
  const { concurrency } = config.upload;
  const warn = (message: string): void => {
    emit({ kind: 'warning', message });
  };
  const failed = new AbortController();
  const transfers = new Transfers({
    concurrency,
    reserved: input.isWatched && concurrency > 1 ? 1 : 0,
    storeBytesPerSecond: () => input.platform.storeBytesPerSecond(),
    timer: realTimer,
  });
  const stop = AbortSignal.any([input.stop, failed.signal]);
  const abort = AbortSignal.any([input.abort, failed.signal]);
  // Every running request and every waiting walk listens to these.
  setMaxListeners(0, stop, abort, input.detach);
  const context: Omit<SyncContext, 'confirmations'> = {
    ...input,
    stop,
    abort,
    beganAt: { wallMs: clock.now(), monotonicMs: clock.monotonic() },
    claims: new Claims(input.state, []),
    breaker: new CircuitBreaker(clock, input.random, {
      longestOutageMs: waitLimits.outageMs,
      parkAfterMs: input.isWatched ? PARK_AFTER_MS : Infinity,
      opened: (reason) => {
        warn(`the platform is unreachable: ${reason}; botsync retries`);
      },
      closed: (hasParked) => {
        emit({ kind: 'notice', message: 'the platform is reachable again' });
        input.recovered?.(hasParked);
      },
    }),
    catalog:
      input.catalog === null ? null : new ServedCatalog(input.catalog, input.state.remote, clock, warn),
    roots: new Roots(),
    indexWarnings: new IndexWarnings(config.limits.indexableExtensions, warn),
    patternWarnings: new PatternWarnings(config, warn),
    bulk: (exchange, sizeBytes) => transfers.run('bulk', sizeBytes, exchange),
    fresh: (exchange, sizeBytes) => transfers.run('fresh', sizeBytes, exchange),
    walkStates: new Map(),
    round: newRound(0, new Blockade(config)),
    fail: () => {
      failed.abort();
    },
  };
  return Object.assign(context, { confirmations: confirmationsOf(context) });
}

/** Creates the confirmations of a context; `null`: the platform is not asked. */
function confirmationsOf(context: Omit<SyncContext, 'confirmations'>): Confirmations | null {
  const {
    config,
    platformName,
    state,
    catalog,
    clock,
    emit,
    keyLocks,
    platform,
    breaker,
    stop,
    onStatus,
    isPaused,
  } = context;
  if (catalog === null) return null;
  const bots = new Map(
    config.sources.map((source) => {
      const target = state.targetId(targetOf(config, source, platformName));
      return [target, { target, botId: source.botId }];
    }),
  );
  return new Confirmations({
    state,
    catalog,
    clock,
    emit,
    keyLocks,
    stop,
    onStatus,
    isPaused,
    bots: [...bots.values()],
    attempts: config.upload.attempts,
    isMarking: config.platform.mark,
    platformNow: () => platform.now(),
    isBarred: (botId) => breaker.isOpen || context.round.blockade.reasonAgainst(botId, false) !== null,
    noteShortage: (message, botId) => {
      context.round.blockade.note({ kind: 'quota', message }, botId);
    },
    noteUnsent: (source, path, fingerprint) => {
      context.round.unsent.add(source, path, fingerprint);
    },
  });
}
