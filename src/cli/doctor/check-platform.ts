import ms from 'ms';
import { ownTokenPosition, type Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { LookupFailure, OptionalFailure } from '../../domain/failure.ts';
import type { PlatformAdministration } from '../../platform/administration.ts';
import type { BotSummary } from '../../platform/resources.ts';
import { describe } from '../render/resource.ts';
import { checkOperations } from './check-operations.ts';
import { broken, doubtful, fine, refusal, worst, type Diagnosis, type Examination } from './finding.ts';
import { NO_FILE } from '../../domain/file-catalog.ts';
import type { Clients } from '../../run/platform/clients.ts';
import { secretPlace } from '../credential-advice.ts';
import { excessesOf, type Additions } from '../../domain/usage.ts';
import { SyncError } from '../../run/sync-error.ts';
import { whyNotAsked } from '../../run/usage.ts';
import { systemClock } from '../../service/system-clock.ts';
import { Claims } from '../../sync/plan/claims.ts';
import { estimate } from '../../sync/plan/estimate.ts';
import { findSources } from '../../sync/sources/source.ts';
import { describeExcess, describeUsage } from '../../words/usage.ts';

/** A larger difference should be corrected, in milliseconds. */
const LARGEST_SKEW_MS = 60_000;

/** Checks what the configuration needs of the platform, as far as it has the credentials to ask. */
export async function checkPlatform(examination: Examination): Promise<Diagnosis[]> {
  const { loaded, session } = examination;
  const { config } = loaded;
  const { credentials, administration, signal } = session;
  // Reported with the secrets already.
  if (credentials.find('platform.token')?.kind === 'problem') return notAsked('there is no token');
  const lacking = credentials.lacking('admin');
  const first = lacking.find(({ field }) => field === 'platform.token') ?? lacking[0];
  if (first !== undefined) {
    const reason = `${first.field} ${first.message}`;
    if (credentials.lacking('files').length > 0) return notAsked(reason);
    const found = await checkToken(config, session, reason, signal);
    return worst(found) === EXIT.ok ? [...found, ...(await checkOperations(examination))] : found;
  }
  const found = await checkWorkspace(config, administration(), signal);
  // A second request would be refused, too.
  if (worst(found) !== EXIT.ok || credentials.lacking('files').length > 0) return found;
  const own = config.sources.flatMap(({ botId, token }) => (token === null ? [] : [botId]));
  const accepted = await checkAccess(config, own, session, signal);
  if (worst(accepted) !== EXIT.ok) return [...found, ...accepted];
  return [
    ...[...found, ...accepted],
    ...(await checkOperations(examination)),
    ...(await checkUsage(examination)),
  ];
}

/** Checks the token, the bots, the integration and the clock with the platform. */
async function checkWorkspace(
  config: Config,
  administration: PlatformAdministration,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const listed = await administration.listBots(signal);
  if (listed.kind === 'failed') return [failed('token', 'the bots cannot be listed', listed.failure)];
  const bots = listed.value;
  return [
    fine('token', `valid; the workspace has ${bots.length} ${bots.length === 1 ? 'bot' : 'bots'}`),
    ...checkBots(config, bots),
    ...(await checkIntegration(config, administration, signal)),
    checkClock(administration.now() - Date.now()),
  ];
}

/** `reason`: what the configuration lacks for a request. */
function notAsked(reason: string): Diagnosis[] {
  return [doubtful('token', `was not checked: ${reason}`, null)];
}

/** Bots with a token of their own may be of another workspace. */
function checkBots(config: Config, bots: readonly BotSummary[]): Diagnosis[] {
  const { platform, sources } = config;
  const ids = new Set<string>(sources.map(({ botId }) => botId));
  if (platform.botId !== null) ids.add(platform.botId);
  for (const id of ids) if (ownTokenPosition(config, id) !== -1) ids.delete(id);
  return [...ids].map((id) => {
    const own = sources.filter(({ botId }) => botId === id).map(({ name }) => name);
    const use = own.length === 0 ? '' : `, for ${own.join(', ')}`;
    const bot = bots.find((one) => one.id === id);
    if (bot !== undefined) return fine('bots', `${id} (${describe(bot.name)})${use}`);
    const known = bots.slice(0, 5).map((one) => `${one.id} (${describe(one.name)})`);
    const more = bots.length > known.length ? ', … ("botsync bots" lists them all)' : '';
    const fix =
      known.length === 0
        ? 'the workspace has no bots: check platform.workspaceId'
        : `write one of ${known.join(', ')}${more}`;
    return broken('bots', `${id}${use} is not in the workspace`, fix);
  });
}

async function checkIntegration(
  { platform }: Config,
  administration: PlatformAdministration,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const name = platform.identity.integrationName;
  if (name === undefined) return [];
  const found = await administration.getIntegration(name, 'latest', false, signal);
  if (found.kind === 'ok') {
    const { id, title, version } = found.value;
    return [fine('integration', `${name} ${describe(version)} is in the hub: ${describe(title) || id}`)];
  }
  if (found.failure.kind !== 'not-found')
    return [failed('integration', `${name} cannot be looked up`, found.failure)];
  const fix = 'check platform.identity.integrationName; private integrations cannot be looked up';
  return [doubtful('integration', `${name} is not in the hub`, fix)];
}

/** The platform's time has whole seconds. */
const CLOCK_GRAIN_MS = 1000;

/** `skewMs`: how far the platform's clock is ahead of ours. */
function checkClock(skewMs: number): Diagnosis {
  if (Math.abs(skewMs) < CLOCK_GRAIN_MS) return fine('clock', "agrees with the platform's clock");
  const off = `is ${ms(Math.abs(skewMs), { long: true })} ${skewMs > 0 ? 'behind' : 'ahead of'} the platform's`;
  return Math.abs(skewMs) < LARGEST_SKEW_MS
    ? fine('clock', off)
    : doubtful('clock', off, 'set it, best with a time service: timedatectl set-ntp true');
}

function failed(check: string, what: string, failure: LookupFailure): Diagnosis {
  return refusal(check, what, failure, {
    'not-found': 'check platform.baseUrl',
    transient: 'check the network and platform.baseUrl, then try again',
  });
}

/**
 * Tries the token with the files of each bot, if the workspace cannot be asked: an empty list is the cheapest
 * request without changes.
 *
 * @param reason - why the workspace is not asked.
 */
export async function checkToken(
  config: Config,
  clients: Clients,
  reason: string,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  if (clients.catalog() === null) return notAsked(`platform.operations is "specified", and ${reason}`);
  const bots = config.sources.map(({ botId }) => botId);
  const found = await checkAccess(config, bots, clients, signal);
  if (worst(found) !== EXIT.ok) return found;
  return [
    ...found,
    doubtful('bots', `were not looked up: ${reason}`, null),
    checkClock(clients.files().now() - Date.now()),
  ];
}

/** Checks whether the platform accepts the tokens of bots for their files. */
async function checkAccess(
  config: Config,
  bots: readonly string[],
  clients: Clients,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const catalog = clients.catalog();
  const found: Diagnosis[] = [];
  if (catalog === null) return found;
  for (const botId of new Set(bots)) {
    const listed = await catalog.list(botId, { kind: 'ids', ids: [NO_FILE] }, signal);
    const diagnosis =
      listed.kind === 'ok'
        ? fine('token', `the platform accepts it for the files of bot ${botId}`)
        : diagnoseToken(config, botId, listed.failure);
    found.push(diagnosis);
    // A token that is refused for one bot, or a platform that is unreachable, would fail for all bots of the token.
    const isOwn = ownTokenPosition(config, botId) !== -1;
    if (!isOwn && diagnosis.finding.check === 'token' && diagnosis.finding.status === 'fail') return found;
  }
  return found;
}

function diagnoseToken(config: Config, botId: string, failure: OptionalFailure): Diagnosis {
  const position = ownTokenPosition(config, botId);
  const field = position === -1 ? 'platform.token' : `sources[${position}].token`;
  const token = position === -1 ? config.platform.token : (config.sources[position]?.token ?? null);
  const place = token === null ? '' : ` (from ${secretPlace(token)})`;
  const message = `the files of bot ${botId} cannot be listed: ${failure.message}`;
  switch (failure.kind) {
    case 'credentials':
      return broken(
        'token',
        message,
        failure.scope === 'all'
          ? `check ${field}${place}`
          : `check the bot's id, and that ${field}${place} is of its workspace`,
        EXIT.credentials,
      );
    case 'not-served':
      return doubtful('token', `was not checked: ${message}`, null);
    case 'not-found':
      return broken('bots', message, "check the bot's id and platform.baseUrl");
    case 'transient':
      return broken('token', message, 'check the network and platform.baseUrl, then try again');
    case 'quota':
    case 'refused':
      return doubtful('token', message, null);
  }
}

/** Checks the quotas of the workspace against the usage and what the next pass would add. */
async function checkUsage(examination: Examination): Promise<Diagnosis[]> {
  const { loaded, session } = examination;
  if (loaded.config.platform.operations === 'specified') return [];
  const asked = await session.usage().all(session.signal);
  if (asked.kind === 'failed') return [doubtful('usage', whyNotAsked(asked), null)];
  const usages = asked.value;
  const additions = await planned(examination);
  const fix = 'delete files or raise the quota; other files are not affected';
  return [
    ...describeUsage(usages, additions).map((line) => fine('usage', line)),
    ...(additions === null ? [] : excessesOf(usages, additions)).map((excess) =>
      doubtful('usage', describeExcess(excess), fix),
    ),
  ];
}

/** Returns what the next pass would add; `null` if unknown. */
async function planned({
  loaded: { config },
  platformName,
  records,
  session: { signal },
}: Examination): Promise<Additions | null> {
  try {
    return await records.read(async ({ reader }) => {
      const sources = findSources(config, platformName);
      const { now } = systemClock;
      const aheadMs = reader.platformAheadMs();
      const input = {
        ...{ config, sources, state: reader, claims: new Claims(reader, sources) },
        ...{ platformNow: () => now() + aheadMs, now, isForced: () => false },
      };
      return (await estimate(input, systemClock, signal))?.additions ?? null;
    });
  } catch (error) {
    // The check of the state file reports it.
    if (error instanceof SyncError) return null;
    throw error;
  }
}
