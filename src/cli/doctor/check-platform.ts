import ms from 'ms';
import type { Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { LookupFailure } from '../../domain/failure.ts';
import type { PlatformAdministration } from '../../platform/administration.ts';
import type { BotSummary } from '../../platform/resources.ts';
import { describe } from '../render/describe-resource.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

/** More than this our clock is not off by itself: somebody should set it, milliseconds. */
const LARGEST_SKEW_MS = 60_000;

/** Asks the platform what it makes of the token, the bots, the integration and the time. */
export async function checkPlatform(
  config: Config,
  administration: PlatformAdministration,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const listed = await administration.listBots(signal);
  if (listed.kind === 'failed') return [diagnose('token', 'the bots cannot be listed', listed.failure)];
  const bots = listed.value;
  return [
    fine('token', `valid; the workspace has ${bots.length} ${bots.length === 1 ? 'bot' : 'bots'}`),
    ...checkBots(config, bots),
    ...(await checkIntegration(config, administration, signal)),
    checkClock(administration.now() - Date.now()),
  ];
}

/** The platform cannot be asked, as the config does not say how. */
export function notAsked(reason: string): Diagnosis[] {
  return [doubtful('token', `was not checked: ${reason}`, null)];
}

function checkBots({ platform, sources }: Config, bots: readonly BotSummary[]): Diagnosis[] {
  const ids = new Set<string>(sources.map(({ botId }) => botId));
  if (platform.botId !== null) ids.add(platform.botId);
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
    return [diagnose('integration', `${name} cannot be looked up`, found.failure)];
  const fix = 'check platform.identity.integrationName; private integrations cannot be looked up';
  return [doubtful('integration', `${name} is not in the hub`, fix)];
}

/** Whether our clock agrees with the platform's; `skewMs`: how far theirs is ahead of ours. */
export function checkClock(skewMs: number): Diagnosis {
  if (skewMs === 0) return fine('clock', "agrees with the platform's clock");
  const off = `is ${ms(Math.abs(skewMs), { long: true })} ${skewMs > 0 ? 'behind' : 'ahead of'} the platform's`;
  return Math.abs(skewMs) < LARGEST_SKEW_MS
    ? fine('clock', off)
    : doubtful('clock', off, 'set it, best with a time service: timedatectl set-ntp true');
}

function diagnose(check: string, what: string, failure: LookupFailure): Diagnosis {
  const message = `${what}: ${failure.message}`;
  switch (failure.kind) {
    case 'credentials':
      return broken(check, message, null, EXIT.credentials);
    case 'not-found':
      return broken(check, message, 'check platform.baseUrl');
    case 'transient':
      return broken(check, message, 'check the network and platform.baseUrl, then try again');
    case 'quota':
    case 'refused':
      return broken(check, message, null);
  }
}
