import { closeAtEnd } from '../store/fixture.ts';
import type { FoundFile } from '../../src/store/remote.ts';
import { openState } from '../../src/store/open.ts';
import type { FileRecord } from '../../src/domain/record.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import type { FileDifference } from '../../src/sync/catalog/compare.ts';
import { ServedCatalog } from '../../src/sync/catalog/served-catalog.ts';
import { verify, type VerifyInput } from '../../src/sync/plan/verify.ts';
import { type Verified } from '../../src/domain/status.ts';
import { findSources, targetOf } from '../../src/sync/sources/source.ts';
import { connectTo, createWorld, type World } from './world.ts';

/** What a comparison told. */
export interface Told {
  readonly differences: FileDifference[];
  /** "reason key" of each, in the order of the text. */
  readonly reasons: string[];
  readonly same: { readonly sent: FileRecord; readonly found: FoundFile }[];
  /** `null`: it failed. */
  readonly verified: Verified | null;
  /** Why it failed. */
  readonly failure: string | null;
}

/** A world whose platform serves all operations, and comparisons in it. */
export interface VerifyWorld extends Awaited<ReturnType<typeof createWorld>> {
  /** Compares; what the input names, made from the open state file, replaces the usual. */
  readonly verify: (input?: (state: StateStore) => Partial<VerifyInput>) => Promise<Told>;
  /** The state file, open; the test closes it before the next pass. */
  readonly open: () => StateStore;
}

/** Makes it. */
export async function createVerifyWorld(fields: Record<string, unknown> = {}): Promise<VerifyWorld> {
  const world = await createWorld(fields);
  world.configure({ platform: platformOf(world) });
  const open = (): StateStore => {
    const opened = openState(world.config().stateFile, { checkThoroughly: false, nowMs: world.clock.now() });
    if (opened.kind !== 'open') throw new Error(opened.kind);
    closeAtEnd(opened.store);
    return opened.store;
  };
  return {
    ...world,
    open,
    verify: async (changed = () => ({})) => {
      const config = world.config();
      const state = open();
      const connection = connectTo(world.emulator, config, world.clock);
      if (connection.catalog === null) throw new Error('no catalog');
      const catalog = new ServedCatalog(connection.catalog, state.remote, world.clock, () => undefined);
      const sources = findSources(config, config.platform.baseUrl);
      const [first] = config.sources;
      if (first === undefined) throw new Error('no source');
      const target = state.targetId(targetOf(config, first, config.platform.baseUrl));
      const differences: FileDifference[] = [];
      const same: Told['same'] = [];
      const stop = new AbortController().signal;
      try {
        const result = await verify({
          at: { target, botId: 'bot-1' },
          sources,
          state,
          catalog,
          ports: {
            clock: world.clock,
            random: () => 0.5,
            patienceMs: 60_000,
            onRetry: () => undefined,
            stop,
          },
          platformNow: world.clock.now,
          isBusy: () => false,
          readDigest: null,
          onDifference: (one) => differences.push(one),
          onSame: (sent, found) => same.push({ sent, found }),
          ...changed(state),
        });
        return {
          differences,
          same,
          reasons: differences.map(({ reason, key }) => `${reason} ${key}`).sort(),
          verified: result.kind === 'ok' ? result.value : null,
          failure: result.kind === 'ok' ? null : result.failure.message,
        };
      } finally {
        await connection.close();
        state.close();
      }
    },
  };
}

/** The platform in a configuration that asks for all that it serves. */
export function platformOf({ emulator }: Pick<World, 'emulator'>): Record<string, unknown> {
  return { botId: 'bot-1', baseUrl: emulator.baseUrl, operations: 'auto' };
}

/** Asks the emulator; gives the answer's body. */
async function callAs(
  { emulator }: Pick<World, 'emulator'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${emulator.baseUrl}/v1/files${path}`, {
    method,
    headers: {
      authorization: `Bearer ${emulator.token}`,
      'x-bot-id': 'bot-1',
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

/** Puts a file on the emulator as somebody else would. Gives its id. */
export async function putAs(
  world: Pick<World, 'emulator'>,
  key: string,
  content: string,
  facts: Record<string, unknown> = {},
): Promise<string> {
  const size = Buffer.byteLength(content);
  const { file } = await callAs(world, 'PUT', '', { key, size, ...facts });
  const { id, uploadUrl, contentType } = file as { id: string; uploadUrl: string; contentType: string };
  const headers = { 'content-type': contentType };
  const response = await fetch(uploadUrl, { method: 'PUT', body: content, headers });
  if (!response.ok) throw new Error(await response.text());
  return id;
}

/** Changes the facts of a file on the emulator. */
export async function tellAs(
  world: Pick<World, 'emulator'>,
  key: string,
  facts: Record<string, unknown>,
): Promise<void> {
  const { file } = await callAs(world, 'GET', `/${encodeURIComponent(key)}`);
  await callAs(world, 'PUT', `/${(file as { id: string }).id}`, facts);
}

/** Deletes a file of the emulator. */
export async function deleteAs(world: Pick<World, 'emulator'>, key: string): Promise<void> {
  await callAs(world, 'DELETE', `/${encodeURIComponent(key)}`);
}
