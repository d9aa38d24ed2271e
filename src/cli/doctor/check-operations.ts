import ms from 'ms';
import type { Config } from '../../config/config.ts';
import type { OptionalFailure, Outcome } from '../../domain/failure.ts';
import type { OptionalOperation } from '../../domain/file-catalog.ts';
import { LOSSES } from '../../domain/operation-losses.ts';
import type { UnservedOperation } from '../../state/remote.ts';
import { targetOf } from '../../sync/sources/source.ts';
import type { Clients } from '../../library/platform/clients.ts';
import type { Records } from '../../library/read-records.ts';
import { doubtful, fine, type Diagnosis } from './finding.ts';
import { SyncError } from '../../library/sync-error.ts';

/** What no file is called: to ask for it does no harm. */
const NOBODY = 'botsync-doctor-asks-for-nothing';

/** How it stands with one operation at one bot. `unknown`: it could not be asked for. */
type Availability =
  | { readonly kind: 'served' | 'not-tried' }
  | { readonly kind: 'not-served' | 'unknown'; readonly reason: string };

type Availabilities = readonly (readonly [OptionalOperation, Availability])[];

/** Asks of each bot which operations beyond those of every sync it is served. Nothing that changes files is asked for. */
export async function checkOperations(
  config: Config,
  platformName: string,
  { clients, records }: { readonly clients: Clients; readonly records: Records },
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  if (config.platform.operations === 'specified') {
    const message = 'platform.operations is "specified": only the five specified operations are used';
    return [fine('operations', message)];
  }
  const bots = [...new Set(config.sources.map(({ botId }) => botId))];
  const found: Diagnosis[] = [];
  for (const botId of bots) {
    const asked = await askBot(botId, clients, signal);
    found.push(
      ...describeBot(botId, [...asked, ...(await readRemembered(config, platformName, botId, records))]),
    );
  }
  return found;
}

async function askBot(botId: string, clients: Clients, signal: AbortSignal): Promise<Availabilities> {
  const catalog = clients.catalog();
  if (catalog === null) return [];
  const lookups = clients.lookups(botId);
  return [
    ['list', availabilityAfter(await catalog.list(botId, { kind: 'ids', ids: [NOBODY] }, signal))],
    ['get', availabilityAfter(await catalog.get(botId, NOBODY, signal))],
    ['search', availabilityAfter(await lookups.search({ query: NOBODY, tags: {}, limit: 1 }, signal))],
    ['passages', availabilityAfter(await lookups.passagesOf(NOBODY, signal))],
  ];
}

/** What an answer says of its operation: one that refuses what was asked for is there. */
function availabilityAfter(outcome: Outcome<unknown, OptionalFailure>): Availability {
  if (outcome.kind === 'ok') return { kind: 'served' };
  const { kind, message: reason } = outcome.failure;
  switch (kind) {
    case 'not-found':
    case 'refused':
    case 'quota':
      return { kind: 'served' };
    case 'not-served':
      return { kind: 'not-served', reason };
    case 'transient':
    case 'credentials':
      return { kind: 'unknown', reason };
  }
}

/** What only a sync finds out, as it changes files: the state file remembers it. */
async function readRemembered(
  config: Config,
  platformName: string,
  botId: string,
  records: Records,
): Promise<Availabilities> {
  const source = config.sources.find((one) => one.botId === botId);
  if (source === undefined) return [];
  const unserved = (operation: OptionalOperation): Promise<UnservedOperation | null> =>
    records
      .read(({ reader }) =>
        reader.remote.unserved(reader.targetId(targetOf(config, source, platformName)), operation),
      )
      .catch((error: unknown) => {
        // What is wrong with the state file is told by the check of it.
        if (error instanceof SyncError) return null;
        throw error;
      });
  const availability = (known: UnservedOperation | null): Availability => {
    if (known === null) return { kind: 'not-tried' };
    const since = ms(Math.max(0, Date.now() - known.askedAtMs), { long: true });
    return { kind: 'not-served', reason: `${known.reason} (a sync found that ${since} ago)` };
  };
  return [
    ['update', availability(await unserved('update'))],
    ['delete', availability(await unserved('delete'))],
  ];
}

function describeBot(botId: string, found: Availabilities): Diagnosis[] {
  const named = (kind: Availability['kind']): string =>
    found.flatMap(([operation, availability]) => (availability.kind === kind ? [operation] : [])).join(', ');
  const served = named('served');
  const untried = named('not-tried');
  const parts = [
    ...(served === '' ? [] : [`served: ${served}`]),
    ...(untried === '' ? [] : [`not tried, because they change files: ${untried}`]),
  ];
  const sum = parts.length === 0 ? [] : [fine('operations', `${botId}: ${parts.join('; ')}`)];
  const missing = found.flatMap(([operation, availability]): Diagnosis[] => {
    const what = `${botId}: ${operation}`;
    switch (availability.kind) {
      case 'served':
      case 'not-tried':
        return [];
      case 'not-served':
        return [
          doubtful(
            'operations',
            `${what} is not served, so ${LOSSES[operation]}: ${availability.reason}`,
            null,
          ),
        ];
      case 'unknown':
        return [doubtful('operations', `${what} could not be looked up: ${availability.reason}`, null)];
    }
  });
  return [...sum, ...missing];
}
