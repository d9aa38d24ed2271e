import fc from 'fast-check';
import type { RecordedRequest } from '../../src/emulator/request-log.ts';
import { pick, Step } from './steps.ts';
import type { World } from '../sync/world.ts';
import { BOTS, FOREIGN_PREFIX, type Observation } from './observe.ts';
import { idOf } from './model.ts';

/** What others call themselves. */
const USER_AGENT = 'somebody-else';

/** Whether it was others who asked. */
export function isOfOthers({ headers }: RecordedRequest): boolean {
  return headers['user-agent'] === USER_AGENT;
}

/** What others do to a file by the platform's own interface, beside botsync. */
const DEEDS = ['delete', 'overwrite', 'retag', 'add a tag'] as const;
type Deed = (typeof DEEDS)[number];

/** What botsync need not know, because others did it or because its memory was lost; files by `idOf`. */
export class Others {
  /** Files that are not as their records say. */
  readonly #changed = new Set<string>();
  /** Files of which others made something else: their contents. */
  readonly #theirs = new Map<string, string>();
  /** Files that have names which botsync does not know of. */
  readonly #named = new Set<string>();
  /** Files that were there when the state file was lost. */
  readonly #forgotten = new Set<string>();
  #count = 0;

  /** Does something to a file of botsync's. */
  async act(world: World, deed: Deed, botId: string, key: string): Promise<void> {
    const id = idOf(botId, key);
    world.letOthersAsk();
    const before = world.emulator.listFiles(botId).find((file) => file.key === key);
    if (before === undefined) throw new Error(`no such file: ${id}`);
    switch (deed) {
      case 'delete':
        await call(world, 'DELETE', botId, `/${before.id}`);
        this.#theirs.delete(id);
        this.#changed.add(id);
        break;
      case 'overwrite': {
        const content = `theirs ${(this.#count += 1)}`;
        await put(world, botId, key, content);
        this.#theirs.set(id, content);
        this.#changed.add(id);
        break;
      }
      case 'retag':
        await call(world, 'PUT', botId, `/${before.id}`, { tags: { by: 'somebody else' } });
        this.#named.add(id);
        this.#changed.add(id);
        break;
      case 'add a tag':
        await call(world, 'PUT', botId, `/${before.id}`, { tags: { theirs: 'yes' } });
        this.#named.add(id);
        break;
    }
  }

  /** The state file was lost, and with it what the platform was told. */
  forget({ platform }: Observation): void {
    for (const id of platform.keys()) {
      this.#forgotten.add(id);
      this.#named.add(id);
      // Records that are made anew say what is there by then.
      if (!this.#theirs.has(id)) this.#changed.delete(id);
    }
  }

  /** A file was sent of which the state file in use now knows nothing. */
  noteUnknown(id: string): void {
    this.#forgotten.add(id);
    this.#named.add(id);
  }

  /** Lists that lag behind had a file taken for what it was. */
  doubt(id: string): void {
    this.#changed.add(id);
  }

  /** A file was sent: it is what botsync made it. */
  noteSent(id: string): void {
    this.#changed.delete(id);
    this.#theirs.delete(id);
    this.#named.delete(id);
    this.#forgotten.delete(id);
  }

  /** Whether the record of a file may be wrong. */
  mayDiffer(id: string): boolean {
    return this.#changed.has(id);
  }

  /** What others have put under a key; `null`: nothing. */
  contentOf(id: string): string | null {
    return this.#theirs.get(id) ?? null;
  }

  /** Whether a file may have tags and metadata besides those that the rules give it. */
  mayHaveMore(id: string): boolean {
    return this.#named.has(id);
  }

  /** Whether a file may be there though nothing is on record of it. */
  isForgotten(id: string): boolean {
    return this.#forgotten.has(id);
  }

  /** From now on records are to be right: what was changed was found and put right, but for sources that are not configured. */
  expectMended({ rows }: Observation, sources: readonly { readonly name: string }[]): void {
    const names = new Set(sources.map(({ name }) => name));
    for (const id of this.#changed) {
      const row = rows.get(id);
      const isCompared = row === undefined || names.has(row.source);
      if (isCompared && !this.#theirs.has(id)) this.#changed.delete(id);
    }
  }
}

/** Where others do nothing. */
export const NOBODY = new Others();

/** Whether the platform answers what others ask of it now, so that they may act. */
export function canOthersAct({ emulator }: World): boolean {
  const { conditions, faults } = emulator;
  const isUp = (['refused', 'unavailable', 'rate-limit', 'slow-store'] as const).every(
    (kind) => conditions.get(kind) === null,
  );
  return isUp && faults.pending().length === 0;
}

/** The files on the platform that are botsync's. */
function ours(world: World): { readonly botId: string; readonly key: string }[] {
  return BOTS.flatMap((botId) =>
    world.emulator
      .listFiles(botId)
      .flatMap(({ key }) => (key.startsWith(FOREIGN_PREFIX) ? [] : [{ botId, key }])),
  );
}

async function put(world: World, botId: string, key: string, content: string): Promise<void> {
  const body = { key, size: Buffer.byteLength(content), contentType: 'text/plain' };
  const { file } = await call(world, 'PUT', botId, '', body);
  const { uploadUrl } = file as { uploadUrl: string };
  const headers = { 'content-type': 'text/plain', 'user-agent': USER_AGENT };
  const answer = await fetch(uploadUrl, { method: 'PUT', headers, body: content });
  if (!answer.ok) throw new Error(await answer.text());
}

async function call(
  { emulator }: World,
  method: string,
  botId: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${emulator.baseUrl}/v1/files${path}`, {
    method,
    headers: {
      authorization: `Bearer ${emulator.token}`,
      'x-bot-id': botId,
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const told = (await answer.json()) as Record<string, unknown>;
  if (!answer.ok) throw new Error(JSON.stringify(told));
  return told;
}

/** A real system on whose platform others act as well. */
export interface Shared {
  readonly world: World;
  readonly others: Others;
}

/** Others do something to one of botsync's files. */
export function othersStep<Real extends Shared>(): fc.Arbitrary<Step<Real>> {
  return fc.tuple(fc.constantFrom(...DEEDS), fc.nat(9999)).map(
    ([deed, number]) =>
      new Step<Real>(
        `others ${deed}(${number})`,
        () => true,
        async (_model, { world, others }) => {
          const file = pick(ours(world), number);
          if (file !== undefined && canOthersAct(world)) await others.act(world, deed, file.botId, file.key);
        },
      ),
  );
}
