import { expect, test } from 'vitest';
import { failed, ok, type OptionalFailure, type Outcome } from '../../../src/domain/failure.ts';
import type { CatalogPage, CatalogQuery } from '../../../src/domain/file-catalog.ts';
import { readListing } from '../../../src/sync/catalog/read-listing.ts';
import { ServedCatalog } from '../../../src/sync/catalog/served-catalog.ts';
import { connectTo, createWorld } from '../world.ts';

type List = (query: CatalogQuery, signal?: AbortSignal) => Promise<Outcome<CatalogPage, OptionalFailure>>;

const AT = { target: 1, botId: 'bot-1' };

type Limits = Parameters<typeof readListing>[3];

async function begin(files: number): Promise<
  Awaited<ReturnType<typeof createWorld>> & {
    read: (list?: (list: List) => List, limits?: Limits) => Promise<Read>;
  }
> {
  const world = await createWorld({ platform: { operations: 'auto' } });
  for (let at = 0; at < files; at++) world.write(`docs/${String(at)}.txt`, String(at));
  await world.pass();
  const config = world.config();
  const { catalog, close } = connectTo(world.emulator, config, world.clock);
  if (catalog === null) throw new Error('no catalog');
  const served = new ServedCatalog(catalog, world.open().remote, world.clock, () => undefined);
  const stop = new AbortController().signal;
  const plain: List = (query) => served.list(AT, query, stop);
  const ports = { clock: world.clock, random: () => 0.5, patienceMs: 60_000, onRetry: () => undefined, stop };
  const read = async (change = (list: List) => list, limits?: Limits): Promise<Read> => {
    const list = change(plain);
    let asked = 0;
    const counting = (_at: typeof AT, query: CatalogQuery, signal: AbortSignal): ReturnType<List> => {
      asked += 1;
      return list(query, signal);
    };
    const result = await readListing(AT, { list: counting }, ports, limits);
    await close();
    if (result.kind === 'failed') return { keys: [], failure: result.failure, asked };
    const keys: string[] = [];
    const cursor = result.value.byKey();
    while (cursor.current !== null) {
      keys.push(cursor.current.key);
      cursor.advance();
    }
    result.value.close();
    return { keys, failure: null, asked };
  };
  return { ...world, read };
}

interface Read {
  readonly keys: string[];
  readonly failure: OptionalFailure | null;
  readonly asked: number;
}

const TRANSIENT = failed({ kind: 'transient', message: 'later' } as const);

test('all pages are read, and the files come in the order of their keys', async () => {
  const { read, keys } = await begin(230);
  const { keys: listed, asked } = await read();
  expect(listed).toEqual(keys().sort());
  expect(asked).toBe(3);
});

test('one page is asked for while the one before is taken in, and no more', async () => {
  const { read } = await begin(230);
  const order: string[] = [];
  await read((list) => async (query) => {
    order.push('asked');
    const page = await list(query);
    if (page.kind === 'failed') return page;
    const files = page.value.files.map((file) => ({
      ...file,
      get key() {
        if (order.at(-1) !== 'taken in') order.push('taken in');
        return file.key;
      },
    }));
    return ok({ ...page.value, files });
  });
  expect(order).toEqual(['asked', 'asked', 'taken in', 'asked', 'taken in']);
});

test('where a page cannot be taken in the question for the next is broken off', async () => {
  const { read } = await begin(230);
  const broken = new Error('broken');
  let wasBrokenOff = false;
  const reading = read((list) => async (query, signal) => {
    if (query.kind === 'page' && query.token !== null) {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      wasBrokenOff = true;
      return TRANSIENT;
    }
    const page = await list(query);
    if (page.kind === 'failed') return page;
    const [first] = page.value.files;
    if (first === undefined) return page;
    const file = {
      ...first,
      get key(): string {
        throw broken;
      },
    };
    return ok({ ...page.value, files: [file] });
  });
  await expect(reading).rejects.toBe(broken);
  expect(wasBrokenOff).toBe(true);
});

test('a page that fails for a while is asked for again', async () => {
  const { read } = await begin(3);
  let failures = 2;
  const { keys, asked } = await read((list) => (query) => {
    failures -= 1;
    return failures >= 0 ? Promise.resolve(TRANSIENT) : list(query);
  });
  expect(keys).toHaveLength(3);
  expect(asked).toBe(3);
});

test('one that fails for good is given up once patience ends', async () => {
  const { read } = await begin(1);
  const { failure, asked } = await read(() => () => Promise.resolve(TRANSIENT));
  expect(failure).toEqual(TRANSIENT.failure);
  expect(asked).toBeGreaterThan(3);
  expect(asked).toBeLessThan(20);
});

test('a list that leads back to a page does not end', async () => {
  const { read } = await begin(1);
  const tokens = ['a', 'b', 'a'];
  const { failure, asked } = await read(
    () => () => Promise.resolve(ok({ files: [], nextToken: tokens.shift() ?? 'b' })),
  );
  expect(failure?.message).toContain('does not end');
  expect(asked).toBe(3);
});

test('nor does one that answers every token with the same page', async () => {
  const { read } = await begin(3);
  let token = 0;
  const { failure, asked } = await read((list) => async () => {
    const page = await list({ kind: 'page', token: null });
    token += 1;
    return page.kind === 'failed' ? page : ok({ ...page.value, nextToken: String(token) });
  });
  expect(failure?.message).toBe('the list of files does not end: the platform repeats pages');
  // The second page was answered when the third had not been asked for.
  expect(asked).toBe(2);
});

test.each<[string, Limits, number, string, number]>([
  ['pages', { pages: 50, bytes: Infinity, ms: Infinity }, 0, 'it has more than 50 pages', 50],
  ['bytes', { pages: 999, bytes: 2_000_000, ms: Infinity }, 0, 'it has more than 2 MB', 21],
  ['time', { pages: 999, bytes: Infinity, ms: 125_000 }, 10_000, 'it takes longer than 2 minutes', 13],
])('nor one of ever new pages: there is a bound of %s', async (_what, limits, pauseMs, why, pages) => {
  const { read, clock } = await begin(1);
  let number = 0;
  const { failure, asked } = await read(
    (list) => async () => {
      const page = await list({ kind: 'page', token: null });
      if (page.kind === 'failed') return page;
      number += 1;
      clock.advance(pauseMs);
      const id = String(number);
      const metadata = { pad: 'x'.repeat(100_000) };
      return ok({
        files: page.value.files.map((file) => ({ ...file, id, key: id, metadata })),
        nextToken: id,
      });
    },
    limits,
  );
  expect(failure?.message).toBe(`the list of files does not end: ${why}`);
  expect(asked).toBe(pages);
});

test('a platform that does not serve the list says so at once', async () => {
  const { read, emulator } = await begin(1);
  emulator.faults.add({ operation: 'list-files', kind: 'status', status: 405, times: Infinity });
  const { failure, asked } = await read();
  expect(failure?.kind).toBe('not-served');
  expect(asked).toBe(1);
});
