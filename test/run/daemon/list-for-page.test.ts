import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { FileGroup } from '../../../src/domain/status.ts';
import type { FilePage } from '../../../src/page/files.ts';
import { filesAddress, readFilesQuery, type FilesQuery } from '../../../src/page/files-query.ts';
import { listForPage } from '../../../src/run/daemon/page/list-for-page.ts';
import { openState } from '../../../src/store/open.ts';
import type { StateStore } from '../../../src/store/state-store.ts';
import { countOf } from '../../../src/words/files.ts';
import { createWorld, type World } from '../../sync/world.ts';

const TARGET = { config: 'botsync.config.json', emulator: false };

const SOURCES = [{ directory: './docs' }, { directory: './more', keyPrefix: 'more/' }];

function open({ config }: World): StateStore {
  const opened = openState(config().stateFile, { checkThoroughly: false, nowMs: Date.now() });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  onTestFinished(() => {
    opened.store.close();
  });
  return opened.store;
}

/** Two sources with files in several groups, and records of another bot and under another key. */
async function createLibrary(): Promise<World> {
  const world = await createWorld({
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2', keyPrefix: 'old/' }],
    limits: { fileBytes: 20 },
  });
  for (const source of ['docs', 'more'])
    for (const name of ['a.md', 'b/c.md', 'b-c.md', 'gone.md', '\u{10000}.md', '\uffee.md', 'z.txt'])
      world.write(`${source}/${name}`, name);
  world.write('docs/large.md', 'much more than twenty bytes');
  await world.pass();
  world.configure({ sources: SOURCES });
  world.write('docs/a.md', 'grown to more than twenty bytes');
  for (const source of ['docs', 'more']) rmSync(join(world.directory, source, 'gone.md'));
  await world.pass();
  return world;
}

/** Follows the links of a list from page to page: the pages, as `source/path group`. */
async function follow(
  world: World,
  state: StateStore,
  chosen: Partial<FilesQuery>,
  limits?: { readonly shown: number; readonly checked: number },
): Promise<string[][]> {
  const pages: string[][] = [];
  let address = filesAddress(chosen);
  for (;;) {
    const query = readFilesQuery(new URL(address, 'http://localhost').searchParams);
    const page = await listForPage(query, TARGET, () => [{ config: world.config(), state }], limits);
    const { entries, next } = page as FilePage;
    pages.push(entries.map(({ source, path, group }) => `${source}/${path} ${group}`));
    if (next === null) return pages;
    address = filesAddress({ ...query, after: next });
  }
}

test('the pages of a list have every file once, in order, however small they are and whatever is chosen', async () => {
  const world = await createLibrary();
  const state = open(world);
  const [whole = [], ...others] = await follow(world, state, {});
  expect(others).toEqual([]);
  expect(whole).toEqual([
    'docs/a.md refused',
    'docs/b-c.md in-sync',
    'docs/b/c.md in-sync',
    'docs/gone.md kept',
    'docs/large.md refused',
    'docs/z.txt in-sync',
    'docs/\uffee.md in-sync',
    'docs/\u{10000}.md in-sync',
    'more/a.md in-sync',
    'more/b-c.md in-sync',
    'more/b/c.md in-sync',
    'more/z.txt in-sync',
    'more/\uffee.md in-sync',
    'more/\u{10000}.md in-sync',
    // What another bot has.
    ...['a.md', 'b-c.md', 'b/c.md', 'gone.md', 'z.txt', '\uffee.md', '\u{10000}.md'].map(
      (name) => `more/${name} kept`,
    ),
  ]);
  const choices: readonly [Partial<FilesQuery>, RegExp][] = [
    [{}, /./u],
    [{ source: 'more' }, /^more/u],
    [{ state: 'kept' }, /kept$/u],
    [{ state: 'refused', source: 'docs' }, /^docs.*refused$/u],
    [{ text: 'B/' }, /b\//u],
    [{ state: 'in-sync', text: '.txt' }, /txt in-sync$/u],
  ];
  for (const [chosen, wanted] of choices)
    for (const shown of [1, 2, 100])
      for (const checked of [1, 3, 100]) {
        const pages = await follow(world, state, chosen, { shown, checked });
        expect(pages.flat()).toEqual(whole.filter((one) => wanted.test(one)));
        // Nothing but that so many were checked makes a page shorter.
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(shown);
        if (checked === 100) expect(pages.slice(0, -1).every((page) => page.length === shown)).toBe(true);
      }
});

test('there are as many files in a list as the status counts', async () => {
  const world = await createLibrary();
  const state = open(world);
  for (const source of world.status().sources)
    for (const group of ['in-sync', 'refused', 'kept', 'failed', 'to-remove'] satisfies FileGroup[]) {
      const [page = []] = await follow(world, state, { source: source.name, state: group });
      expect([source.name, group, page.length]).toEqual([source.name, group, countOf(source, group)]);
    }
});

test('a list is only of what is held', async () => {
  const world = await createLibrary();
  const state = open(world);
  const query = readFilesQuery(new URLSearchParams());
  expect(await listForPage(query, TARGET, () => null)).toBe('The state file is not open.');
  expect(await listForPage(query, TARGET, () => [])).toEqual({ entries: [], next: null, checked: null });
  // Another unit of a cluster: its sources alone.
  const config = { ...world.config(), sources: world.config().sources.filter(({ name }) => name === 'more') };
  const { entries } = (await listForPage(query, TARGET, () => [{ config, state }])) as FilePage;
  expect(new Set(entries.map(({ source }) => source))).toEqual(new Set(['more']));
});
