import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest';
import { NO_MOUNTS, unmount } from '../mounts.ts';
import { createWorld, type World } from '../sync/world.ts';
import { KINDS, type Kind } from './kinds.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** When files were written last: a whole tick on every file system. */
const WRITTEN_S = 1_700_000_000;

const SOURCES = [{ directory: './docs', ignore: ['lost+found/'] }];

type OnKind = World & {
  readonly clock: { readonly advance: (ms: number) => void };
  readonly docs: string;
  readonly remount: () => void;
  readonly put: (path: string, content: string) => void;
  /** Passes, then waits until what was removed has expired. */
  readonly mirror: () => Promise<Awaited<ReturnType<World['pass']>>>;
};

async function createOn(kind: Kind, context: TestContext): Promise<OnKind> {
  const world = await createWorld({
    sources: SOURCES,
    removals: { mode: 'expire', maxCount: 1000, maxFraction: 1 },
  });
  const docs = join(world.directory, 'docs');
  const work = join(world.directory, 'work');
  mkdirSync(work);
  if (!kind.make(work) || !kind.mount(work, docs)) context.skip(NO_MOUNTS);
  onTestFinished(() => {
    unmount(docs);
  });
  return {
    ...world,
    docs,
    remount: () => {
      unmount(docs);
      expect(kind.mount(work, docs)).toBe(true);
    },
    put: (path, content) => {
      world.write(`docs/${path}`, content);
      utimesSync(join(docs, path), WRITTEN_S, WRITTEN_S);
    },
    mirror: async () => {
      const outcome = await world.pass();
      world.clock.advance(5 * MINUTE_MS);
      return outcome;
    },
  };
}

/** Every file below a directory with its content, as the platform should have it. */
function contents(directory: string, below = ''): Record<string, string> {
  const all = readdirSync(join(directory, below), { withFileTypes: true });
  return Object.assign(
    {},
    ...all.map((entry): Record<string, string> => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.name === 'lost+found') return {};
      return entry.isDirectory() ? contents(directory, path) : { [path]: readText(join(directory, path)) };
    }),
  ) as Record<string, string>;
}

function remoteContents(world: World): Record<string, string | null> {
  return Object.fromEntries(world.keys().map((key) => [key, world.remote(key)]));
}

describe.for(KINDS)('on $name', (kind) => {
  test('a file or directory that changes the case of its name alone is mirrored exactly', async (context) => {
    const world = await createOn(kind, context);
    const { docs, put } = world;
    put('Alpha.md', 'alpha');
    put('Docs/One.md', 'one');
    put('Docs/deep/Two.md', 'two');
    put('same.md', 'same');
    await world.mirror();
    expect(remoteContents(world)).toEqual(contents(docs));
    rename(join(docs, 'Alpha.md'), join(docs, 'alpha.md'));
    rename(join(docs, 'Docs'), join(docs, 'docs'));
    const outcome = await world.mirror();
    expect(outcome).toMatchObject({ exitCode: 0, summary: { uploaded: 3, removed: 3 } });
    expect(readdirSync(docs)).toEqual(expect.arrayContaining(['alpha.md', 'docs', 'same.md']));
    expect(remoteContents(world)).toEqual(contents(docs));
    expect(await world.mirror()).toMatchObject({ exitCode: 0, requests: 0 });
  });

  test('an edit of the same size with its time set back is found within a day', async (context) => {
    const world = await createOn(kind, context);
    const { docs, put, clock } = world;
    for (let n = 0; n < 10; n++) put(`f${n}.md`, `first ${n}`);
    clock.advance(MINUTE_MS);
    await world.mirror();
    put('f3.md', 'other 3');
    expect(statSync(join(docs, 'f3.md')).mtimeMs).toBe(WRITTEN_S * 1000);
    let uploaded = 0;
    for (let hours = 0; hours < 24; hours += 4) {
      clock.advance(4 * HOUR_MS);
      uploaded += (await world.pass()).summary.uploaded;
    }
    expect(uploaded).toBe(1);
    expect(remoteContents(world)).toEqual(contents(docs));
  });

  test('mounted again, nothing is sent', async (context) => {
    const world = await createOn(kind, context);
    const { docs, put, clock } = world;
    if (!kind.isKept) context.skip('it keeps nothing');
    put('a.md', 'a');
    put('Docs/b.md', 'b');
    clock.advance(MINUTE_MS);
    await world.mirror();
    world.remount();
    // In another order than before, so that inodes that are made up are others.
    lstatSync(join(docs, 'Docs/b.md'));
    expect(await world.mirror()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 2 } });
    world.remount();
    writeFileSync(join(docs, 'c.md'), 'c');
    expect(await world.mirror()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, unchanged: 2 } });
    expect(remoteContents(world)).toEqual(contents(docs));
  });
});

/** In two steps: some drivers take a name for the same in any case, and do nothing. */
function rename(from: string, to: string): void {
  renameSync(from, `${from}-moved`);
  renameSync(`${from}-moved`, to);
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
