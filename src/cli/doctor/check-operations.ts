import ms from 'ms';
import type { OptionalFailure, Outcome } from '../../domain/failure.ts';
import { NO_FILE, type OptionalOperation, LOSSES } from '../../domain/file-catalog.ts';
import type { UnservedOperation } from '../../store/remote.ts';
import { targetOf } from '../../sync/sources/source.ts';
import type { Session } from '../session.ts';
import { doubtful, fine, type Diagnosis, type Examination } from './finding.ts';
import { SyncError } from '../../run/sync-error.ts';

/** The availability of an operation for a bot. `unknown`: the request failed. */
type Availability =
  | { readonly kind: 'served' | 'not-tried' }
  | { readonly kind: 'not-served' | 'unknown'; readonly reason: string };

type Availabilities = readonly (readonly [OptionalOperation, Availability])[];

/** Checks which optional operations each bot has, by requests that change nothing. */
export async function checkOperations(examination: Examination): Promise<Diagnosis[]> {
  const { config } = examination.loaded;
  if (config.platform.operations === 'specified') {
    const message = 'platform.operations is "specified": only the five specified operations are used';
    return [fine('operations', message)];
  }
  const bots = [...new Set(config.sources.map(({ botId }) => botId))];
  const found: Diagnosis[] = [];
  for (const botId of bots) {
    const asked = await askBot(botId, examination.session);
    found.push(...describeBot(botId, [...asked, ...(await readRemembered(botId, examination))]));
  }
  return found;
}

async function askBot(botId: string, session: Session): Promise<Availabilities> {
  const { signal } = session;
  const catalog = session.catalog();
  if (catalog === null) return [];
  const lookups = session.lookups(botId);
  return [
    ['list', availabilityAfter(await catalog.list(botId, { kind: 'ids', ids: [NO_FILE] }, signal))],
    ['get', availabilityAfter(await catalog.get(botId, NO_FILE, signal))],
    ['search', availabilityAfter(await lookups.search({ query: NO_FILE, tags: {}, limit: 1 }, signal))],
    ['passages', availabilityAfter(await lookups.passagesOf(NO_FILE, signal))],
  ];
}

/** A refused request proves that its operation exists. */
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

/** Reads the availability of operations that change files, as recorded by a sync. */
async function readRemembered(
  botId: string,
  { loaded: { config }, platformName, records }: Examination,
): Promise<Availabilities> {
  const source = config.sources.find((one) => one.botId === botId);
  if (source === undefined) return [];
  const unserved = (operation: OptionalOperation): Promise<UnservedOperation | null> =>
    records
      .read(({ reader }) =>
        reader.remote.unserved(reader.targetId(targetOf(config, source, platformName)), operation),
      )
      .catch((error: unknown) => {
        // The check of the state file reports it.
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
