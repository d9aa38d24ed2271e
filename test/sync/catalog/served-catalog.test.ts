import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failed, ok, type OptionalFailure, type Outcome } from '../../../src/domain/failure.ts';
import type { FileCatalog } from '../../../src/domain/file-catalog.ts';
import { ServedCatalog } from '../../../src/sync/catalog/served-catalog.ts';
import type { StateStore } from '../../../src/store/state-store.ts';
import { NEVER } from '../../platform/fixture.ts';
import { openStore, TARGET, temporaryDirectory } from '../../store/fixture.ts';

const DAY_MS = 86_400_000;
const BEGIN_MS = Date.parse('2026-03-01T12:00:00Z');

const NOT_SERVED = failed({ kind: 'not-served', message: 'the platform does not serve this (405)' } as const);

/** A platform whose answers a test says, over a state file that a test may open anew. */
class Site {
  readonly file = join(temporaryDirectory(), 'state.db');
  readonly warnings: string[] = [];
  readonly asked: string[] = [];
  nowMs = BEGIN_MS;
  answer: Outcome<never, OptionalFailure> | 'served' = NOT_SERVED;
  store: StateStore = openStore(this.file);
  catalog = this.#create();

  get at() {
    return { target: this.store.targetId(TARGET), botId: TARGET.botId };
  }

  get other() {
    return { target: this.store.targetId({ ...TARGET, botId: 'other' }), botId: 'other' };
  }

  /** Ends the process, and begins another. */
  restart(): void {
    this.store.close();
    this.store = openStore(this.file);
    this.catalog = this.#create();
  }

  /** How a list ends, in a word. */
  async list(at = this.at): Promise<string> {
    const outcome = await this.catalog.list(at, { kind: 'page', token: null }, NEVER);
    return outcome.kind === 'ok' ? 'ok' : outcome.failure.kind;
  }

  #create(): ServedCatalog {
    const say = async <T>(operation: string, value: T): Promise<Outcome<T, OptionalFailure>> => {
      this.asked.push(operation);
      await Promise.resolve();
      return this.answer === 'served' ? ok(value) : this.answer;
    };
    const file = { id: 'f', key: 'a' } as never;
    const platform: FileCatalog = {
      list: () => say('list', { files: [], nextToken: null }),
      get: () => say('get', file),
      update: () => say('update', file),
      delete: () => say('delete', null),
    };
    const clock = { now: () => this.nowMs, monotonic: () => 0, sleep: () => Promise.resolve() };
    return new ServedCatalog(platform, this.store.remote, clock, (message) => this.warnings.push(message));
  }
}

test('an operation that is not served is left alone for a day, and that is told once', async () => {
  const site = new Site();
  expect(site.catalog.serves(site.at.target, 'list')).toBe(true);
  expect(await site.list()).toBe('not-served');
  expect(site.warnings).toEqual([
    'bot bot-1: the operation "list" is not served, so uploads cannot be confirmed, and the bot\'s files cannot be verified: the platform does not serve this (405); botsync tries again in a day',
  ]);
  site.nowMs += DAY_MS - 1;
  expect(site.catalog.serves(site.at.target, 'list')).toBe(false);
  const outcome = await site.catalog.list(site.at, { kind: 'page', token: null }, NEVER);
  expect(outcome).toEqual(NOT_SERVED);
  expect(site.asked).toEqual(['list']);
  site.nowMs += 1;
  expect(site.catalog.serves(site.at.target, 'list')).toBe(true);
  expect(await site.list()).toBe('not-served');
  expect(site.asked).toEqual(['list', 'list']);
  expect(site.catalog.serves(site.at.target, 'list')).toBe(false);
  expect(site.warnings).toHaveLength(1);
});

test('that survives a restart', async () => {
  const site = new Site();
  await site.list();
  site.nowMs += DAY_MS / 2;
  site.restart();
  expect(await site.list()).toBe('not-served');
  expect(site.asked).toHaveLength(1);
  site.nowMs += DAY_MS / 2;
  site.restart();
  expect(await site.list()).toBe('not-served');
  expect(site.asked).toHaveLength(2);
  expect(site.warnings).toHaveLength(1);
});

test.each<[string, Outcome<never, OptionalFailure> | 'served']>([
  ['is served', 'served'],
  ['answers that a file is missing', failed({ kind: 'not-found', message: '404' })],
])(
  'an operation that %s when it is asked again is forgotten, and told again should it end',
  async (_, served) => {
    const site = new Site();
    await site.list();
    site.nowMs += DAY_MS;
    site.answer = served;
    await site.list();
    expect(site.store.remote.unserved(site.at.target, 'list')).toBeNull();
    site.answer = NOT_SERVED;
    await site.list();
    expect(site.asked).toHaveLength(3);
    expect(site.warnings).toHaveLength(2);
  },
);

test.each<OptionalFailure>([
  { kind: 'transient', message: '503' },
  { kind: 'quota', message: '402' },
  { kind: 'refused', message: '400' },
])('a failure that is $kind says nothing of what is served', async (failure) => {
  const site = new Site();
  site.answer = failed(failure);
  expect(await site.list()).toBe(failure.kind);
  expect(site.catalog.serves(site.at.target, 'list')).toBe(true);
  site.answer = NOT_SERVED;
  await site.list();
  site.nowMs += DAY_MS;
  site.answer = failed(failure);
  await site.list();
  expect(site.store.remote.unserved(site.at.target, 'list')).not.toBeNull();
  expect(site.warnings).toHaveLength(1);
});

test('a clock that goes back makes nothing wait longer than a day', async () => {
  const site = new Site();
  await site.list();
  site.nowMs -= 30 * DAY_MS;
  expect(site.catalog.serves(site.at.target, 'list')).toBe(true);
  await site.list();
  expect(site.asked).toHaveLength(2);
  site.nowMs += DAY_MS - 1;
  expect(site.catalog.serves(site.at.target, 'list')).toBe(false);
  site.nowMs += 1;
  expect(site.catalog.serves(site.at.target, 'list')).toBe(true);
  expect(site.warnings).toHaveLength(1);
});

test('each operation and each bot stands for itself, with what is lost by it', async () => {
  const site = new Site();
  const { at, catalog } = site;
  await catalog.get(at, 'f', NEVER);
  await catalog.update(at, 'f', {}, NEVER);
  await catalog.delete(at, 'f', NEVER);
  expect(catalog.serves(at.target, 'list')).toBe(true);
  expect(catalog.serves(site.other.target, 'get')).toBe(true);
  await site.list(site.other);
  expect(site.warnings.map((warning) => warning.replace(/: the platform does not.*/u, ''))).toEqual([
    'bot bot-1: the operation "get" is not served, so deleted files cannot be checked first, and expire instead',
    'bot bot-1: the operation "update" is not served, so files with changed settings or due renewals are sent again',
    'bot bot-1: the operation "delete" is not served, so deleted files expire instead',
    'bot other: the operation "list" is not served, so uploads cannot be confirmed, and the bot\'s files cannot be verified',
  ]);
  expect(site.asked).toEqual(['get', 'update', 'delete', 'list']);
});

test('many that ask at the same time are told once', async () => {
  const site = new Site();
  const { at, catalog } = site;
  await Promise.all(Array.from({ length: 16 }, () => catalog.update(at, 'f', {}, NEVER)));
  expect(site.warnings).toHaveLength(1);
});

test('what is served is passed on as it is', async () => {
  const site = new Site();
  site.answer = 'served';
  const { at, catalog } = site;
  expect(await catalog.list(at, { kind: 'ids', ids: ['f'] }, NEVER)).toEqual(
    ok({ files: [], nextToken: null }),
  );
  expect(await catalog.delete(at, 'f', NEVER)).toEqual(ok(null));
  expect(site.warnings).toEqual([]);
});

test('what only the token may not is asked for once by the next process, which may have another', async () => {
  const site = new Site();
  site.answer = failed({ kind: 'not-served', message: 'this token may not (403)', isByToken: true });
  expect(await site.list()).toBe('not-served');
  expect(await site.list()).toBe('not-served');
  expect(site.asked).toEqual(['list']);
  expect(site.warnings).toEqual([expect.stringMatching(/in a day, after a reload or a restart$/u)]);
  site.restart();
  expect(site.catalog.serves(site.at.target, 'list')).toBe(true);
  await site.list();
  await site.list();
  expect(site.asked).toEqual(['list', 'list']);
  expect(site.warnings).toHaveLength(1);
  site.restart();
  site.answer = 'served';
  expect(await site.list()).toBe('ok');
  expect(site.store.remote.unserved(site.at.target, 'list')).toBeNull();
});
