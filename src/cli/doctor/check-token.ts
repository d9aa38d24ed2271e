import type { Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { OptionalFailure } from '../../domain/failure.ts';
import type { Clients } from '../../library/platform/clients.ts';
import { secretPlace } from '../credential-advice.ts';
import { checkClock, notAsked } from './check-platform.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

/** The id of no file: what is listed is nothing. */
const NO_ID = 'botsync-doctor-asks-for-nothing';

/**
 * Tries the token at the files of each bot, where the workspace cannot be asked: a list of no files is the cheapest
 * request that changes nothing.
 *
 * @param reason - why the workspace is not asked.
 */
export async function checkToken(
  config: Config,
  clients: Clients,
  reason: string,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const catalog = clients.catalog();
  if (catalog === null) return notAsked(`platform.operations is "specified", and ${reason}`);
  const found: Diagnosis[] = [];
  for (const botId of new Set(config.sources.map((source) => source.botId))) {
    const listed = await catalog.list(botId, { kind: 'ids', ids: [NO_ID] }, signal);
    const diagnosis =
      listed.kind === 'ok'
        ? fine('token', `the platform accepts it for the files of bot ${botId}`)
        : diagnose(config, botId, listed.failure);
    found.push(diagnosis);
    // A token that is refused for one bot is refused for all, and a platform that is unreachable is so for all.
    if (diagnosis.finding.check === 'token' && diagnosis.finding.status === 'fail') return found;
  }
  return [
    ...found,
    doubtful('bots', `were not looked up: ${reason}`, null),
    checkClock(clients.files().now() - Date.now()),
  ];
}

function diagnose({ platform: { token } }: Config, botId: string, failure: OptionalFailure): Diagnosis {
  const place = token === null ? '' : ` (from ${secretPlace(token)})`;
  const message = `the files of bot ${botId} cannot be listed: ${failure.message}`;
  switch (failure.kind) {
    case 'credentials':
      return broken(
        'token',
        message,
        failure.scope === 'all'
          ? `check platform.token${place}`
          : `check the bot's id, and that platform.token${place} is of its workspace`,
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
