import type { FileEvent } from '../domain/report.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { EXIT, worstOf } from '../domain/exit-code.ts';
import { systemClock } from '../service/system-clock.ts';
import { Listings, listAdoptable } from '../sync/catalog/list-adoptable.ts';
import { Claims } from '../sync/plan/claims.ts';
import { dryRun } from '../sync/plan/dry-run.ts';
import { findSources, type FoundSource } from '../sync/sources/source.ts';
import type { PlanOptions, PlanResult, RefusedSource } from './api.ts';
import { platformName, type RunBase } from './run-base.ts';
import { passOutcomeOf } from './pass-outcome.ts';
import { noticesIn, withAccess } from './platform/platform-access.ts';
import { withRecords } from './read-records.ts';
import { stopWithin, type Stop } from './stop.ts';
import { tellUsage } from './usage.ts';
import { escapeControls } from '../domain/escape.ts';
import type { OptionalFailure } from '../domain/failure.ts';
import { NO_FILE } from '../domain/file-catalog.ts';
import type { StateReader } from '../store/state-reader.ts';
import { ask, type AskPorts } from '../sync/catalog/ask.ts';
import { ServedCatalog, type BotAtTarget } from '../sync/catalog/served-catalog.ts';
import { SyncError } from './sync-error.ts';
import { memoryOf } from './verify/compare.ts';

/** Reports what a pass would do, also while another process writes the state file. Throws `SyncError`. */
export async function planPass(
  base: RunBase,
  loaded: LoadedConfig,
  { isForced = () => false, usage = false }: PlanOptions,
  { stop }: Stop,
): Promise<PlanResult> {
  const { target, env, feed } = base;
  const { config } = loaded;
  const name = platformName(target, config);
  return await withRecords({ loaded, platformName: name, env }, async ({ reader }) => {
    const sources = findSources(config, name);
    const claims = new Claims(reader, sources);
    const { now } = systemClock;
    const aheadMs = reader.platformAheadMs();
    const platformNow = (): number => now() + aheadMs;
    // A plan does not touch the emulator's data.
    const { listings, refused } = target.emulator
      ? { listings: new Listings(), refused: [] }
      : await listForPlan(base, loaded, sources, reader, stop);
    try {
      const input = { config, sources, state: reader, claims, platformNow, now, isForced, listings };
      const planned = (file: FileEvent): void => {
        feed.emit({ kind: 'planned', file });
      };
      const { summary, exitCode, additions, unmatched } = await dryRun(input, systemClock, planned, stop);
      if (usage && !stop.aborted) {
        await withAccess(base, loaded, { command: 'sync', stop }, ({ clients }) =>
          tellUsage(clients.usage(), additions, feed, stop),
        );
      }
      const worst = refused.length > 0 ? worstOf([exitCode, EXIT.credentials]) : exitCode;
      const outcome = stop.aborted ? 'interrupted' : passOutcomeOf(worst);
      return { outcome, summary, additions, unmatched, refused };
    } finally {
      listings.close();
    }
  });
}

/** Timeout for the answers for a plan, milliseconds. */
const PATIENCE_MS = 10_000;

interface AskedForPlan {
  /** Files that a pass would adopt, as far as known. The caller closes them. */
  readonly listings: Listings;
  /** Sources for whose bot the platform refused requests. */
  readonly refused: readonly RefusedSource[];
}

type FoundDirectory = Extract<FoundSource, { kind: 'found' }>;

/**
 * Asks the platform about each bot, so that the plan shows if no pass could succeed: one request for no file, and a
 * list of files for sources that a pass would adopt from. Warns if the plan is made without the platform.
 */
async function listForPlan(
  base: RunBase,
  loaded: LoadedConfig,
  found: readonly FoundSource[],
  state: StateReader,
  stop: AbortSignal,
): Promise<AskedForPlan> {
  const listings = new Listings();
  const refused: RefusedSource[] = [];
  const { platform } = loaded.config;
  const { warn } = base.feed;
  const ports: AskPorts = {
    clock: systemClock,
    random: Math.random,
    patienceMs: PATIENCE_MS,
    onRetry: noticesIn(base.log).retrying,
    stop,
  };
  try {
    await withAccess(base, loaded, { command: 'sync --dry-run', stop }, async ({ clients }) => {
      const client = clients.catalog();
      if (client === null) return;
      // A plan writes nothing: a pass finds out itself what is not served.
      const catalog = new ServedCatalog(client, memoryOf(state), systemClock, warn);
      const answered: FoundSource[] = [];
      for (const sources of byBot(found)) {
        const failure = await whyUnanswered(sources, catalog, state, ports);
        if (stop.aborted) return;
        if (failure === null) {
          answered.push(...sources);
          continue;
        }
        const { botId } = sources[0].config;
        const error = escapeControls(failure.message);
        warn(
          `the files of bot ${botId} cannot be listed, so the plan is made without the platform: ${error}`,
        );
        if (failure.kind === 'credentials' || failure.kind === 'not-found') {
          const isUnknownBot = failure.kind === 'not-found' || failure.scope === 'unknown-bot';
          refused.push(...sources.map(({ config }) => ({ source: config.name, error, isUnknownBot })));
        }
      }
      if (platform.mark)
        await listAdoptable(answered, { state, catalog, listings, ports, onDue: () => undefined, warn });
    });
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    warn(`the platform cannot be asked, so the plan is made without it: ${error.message}`);
  }
  return { listings, refused };
}

/** Groups the sources whose directories exist by bot. */
function byBot(found: readonly FoundSource[]): [FoundDirectory, ...FoundDirectory[]][] {
  const bots = new Map<string, [FoundDirectory, ...FoundDirectory[]]>();
  for (const one of found) {
    if (one.kind === 'missing') continue;
    const others = bots.get(one.config.botId);
    if (others === undefined) bots.set(one.config.botId, [one]);
    else others.push(one);
  }
  return [...bots.values()];
}

/**
 * Asks for no file of the bot of some sources. Returns the failure; `null`: the bot answered, or serves no lists.
 * Retries only if files will be listed.
 */
async function whyUnanswered(
  sources: readonly [FoundDirectory, ...FoundDirectory[]],
  catalog: ServedCatalog,
  state: StateReader,
  ports: AskPorts,
): Promise<OptionalFailure | null> {
  const [{ config, source }] = sources;
  const at: BotAtTarget = { target: state.targetId(source.syncTarget), botId: config.botId };
  const isListed = sources.some((one) => state.remote.isAdoptionDue(at.target, one.config.name));
  const question = (signal: AbortSignal) => catalog.list(at, { kind: 'ids', ids: [NO_FILE] }, signal);
  const patienceMs = isListed ? ports.patienceMs : 0;
  const asked = await ask(question, { ...ports, patienceMs, stop: stopWithin(PATIENCE_MS, ports.stop) });
  return asked.kind === 'failed' && asked.failure.kind !== 'not-served' ? asked.failure : null;
}
