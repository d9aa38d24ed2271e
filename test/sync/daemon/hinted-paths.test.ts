import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Hint, PathLook } from '../../../src/domain/hint.ts';
import { DISK, type Disk } from '../../../src/files/disk.ts';
import { HintedPaths } from '../../../src/sync/daemon/hinted-paths.ts';
import { lookAtPath } from '../../../src/sync/sources/presence.ts';
import { ManualClock } from '../../manual-clock.ts';
import { createDaemonWorld, removedKeys, type DaemonWorld } from '../daemon-world.ts';

const ABSENT: PathLook = { kind: 'absent' };
const THERE: PathLook = { kind: 'file', sizeBytes: 1n, mtimeNs: 1n };
const LATER: PathLook = { kind: 'file', sizeBytes: 1n, mtimeNs: 1_000_000n };

const hintOf = (path: string, look: PathLook): Hint => ({ kind: 'paths', paths: [{ path, look }] });

/** Hinted paths, what they look like from here, and what came of them, each with the second in which it happened. */
class Waiting {
  readonly clock = new ManualClock();
  readonly looks = new Map<string, PathLook>();
  readonly lookedAtMs: number[] = [];
  readonly told: string[] = [];
  readonly hinted = new HintedPaths(this.clock, {
    lookAt: (source, path) => {
      this.lookedAtMs.push(this.clock.monotonic());
      return this.looks.get(`${source}/${path}`) ?? ABSENT;
    },
    ignores: (_source, path) => path.endsWith('.tmp'),
    arrived: (source, path) => {
      this.#tell(`${source}/${path}`);
    },
    everything: (source) => {
      this.#tell(`all of ${source}`);
    },
    everythingAgain: () => {
      this.#tell('again');
    },
  });

  constructor() {
    const stop = new AbortController();
    onTestFinished(() => {
      stop.abort();
    });
    void this.hinted.run(stop.signal);
  }

  #tell(what: string): void {
    this.told.push(`${what} at ${this.clock.monotonic() / 1000}`);
  }
}

describe('a path that another host named', () => {
  test('is rescanned at once where it looks as it does there', async () => {
    const waiting = new Waiting();
    waiting.looks.set('docs/a.md', THERE);
    waiting.hinted.hear('docs', hintOf('a.md', THERE));
    waiting.hinted.hear('docs', hintOf('gone.md', ABSENT));
    waiting.hinted.hear('docs', hintOf('never.tmp', THERE));
    await waiting.clock.advance(0);
    expect(waiting.told).toEqual(['docs/a.md at 0', 'docs/gone.md at 0']);
    expect([waiting.hinted.waiting, waiting.hinted.oldest('docs')]).toEqual([0, null]);
  });

  test('is looked at with growing pauses until it does', async () => {
    const waiting = new Waiting();
    const heardMs = waiting.clock.now();
    waiting.hinted.hear('docs', hintOf('a.md', THERE));
    await waiting.clock.advance(8000);
    expect(waiting.lookedAtMs).toEqual([0, 250, 750, 1750, 3750, 7750]);
    expect(waiting.told).toEqual([]);
    expect([waiting.hinted.oldest('docs'), waiting.hinted.oldest('other')]).toEqual([heardMs, null]);
    waiting.looks.set('docs/a.md', THERE);
    await waiting.clock.advance(5000);
    expect(waiting.told).toEqual(['docs/a.md at 12.75']);
    expect(waiting.clock.sleepers).toBe(1);
    expect(waiting.clock.nextWakeMs).toBe(Infinity);
  });

  test('is rescanned after a minute in any case', async () => {
    const waiting = new Waiting();
    waiting.looks.set('docs/a.md', LATER);
    waiting.hinted.hear('docs', hintOf('a.md', THERE));
    await waiting.clock.advance(59_999);
    expect(waiting.told).toEqual([]);
    await waiting.clock.advance(1);
    expect(waiting.told).toEqual(['docs/a.md at 60']);
    expect(waiting.hinted.waiting).toBe(0);
    await waiting.clock.advance(600_000);
    expect(waiting.told).toHaveLength(1);
  });

  test('and that is named again is rescanned after a minute as well, and each hint has a minute of its own', async () => {
    const waiting = new Waiting();
    waiting.hinted.hear('docs', hintOf('a.md', THERE));
    await waiting.clock.advance(30_000);
    waiting.hinted.hear('docs', hintOf('a.md', LATER));
    await waiting.clock.advance(30_000);
    expect(waiting.told).toEqual(['docs/a.md at 60']);
    waiting.looks.set('docs/a.md', THERE);
    await waiting.clock.advance(20_000);
    expect(waiting.told, 'the last hint counts').toHaveLength(1);
    await waiting.clock.advance(60_000);
    expect(waiting.told).toEqual(['docs/a.md at 60', 'docs/a.md at 90']);
    expect(waiting.hinted.waiting).toBe(0);
  });
});

describe('more than is waited for path by path', () => {
  test('is rescanned at once, and once more when the share cannot be as it was any more', async () => {
    const waiting = new Waiting();
    waiting.hinted.hear('other', hintOf('a.md', THERE));
    const paths = Array.from({ length: 2000 }, (_one, index) => ({ path: `${index}.md`, look: THERE }));
    waiting.hinted.hear('docs', { kind: 'paths', paths });
    expect([waiting.hinted.waiting, waiting.told]).toEqual([1, ['all of docs at 0']]);
    expect(waiting.hinted.oldest('docs')).toBe(waiting.clock.now());
    await waiting.clock.advance(60_000);
    expect(waiting.told).toContain('again at 60');
    expect(waiting.hinted.oldest('docs')).toBeNull();
    await waiting.clock.advance(600_000);
    expect(waiting.told).toHaveLength(3);
  });

  test('is told people once while it goes on', async () => {
    const waiting = new Waiting();
    for (let times = 0; times < 3; times += 1) {
      waiting.hinted.hear('docs', { kind: 'everything' });
      await waiting.clock.advance(20_000);
    }
    await waiting.clock.advance(600_000);
    expect(waiting.told).toEqual(['all of docs at 0', 'again at 20', 'again at 40', 'again at 100']);
  });
});

/** Nothing but a hint has this daemon look. */
const POLLING = { watch: { poll: true, pollInterval: '1d' } };

const lookIn = ({ directory }: DaemonWorld, path: string): PathLook =>
  lookAtPath({ disk: DISK, root: join(directory, 'docs') }, path) ?? ABSENT;

describe('a daemon that polls', () => {
  test('follows what other hosts name: a new file, an edit, directories, a deletion', async () => {
    const world = await createDaemonWorld({ ...POLLING, removals: { mode: 'expire', delay: '1s' } });
    for (const name of ['a', 'b', 'c']) world.write(`docs/${name}.md`, 'one');
    const running = await world.start();
    world.write('docs/a.md', 'two!');
    world.write('docs/new.md', 'new');
    world.write('docs/deep/er/d.md', 'below');
    world.remove('docs/b.md');
    await world.wait(30_000);
    expect(world.remote('a.md'), 'without a hint nobody looks').toBe('one');
    for (const path of ['a.md', 'new.md', 'deep', 'b.md'])
      running.daemon.hear('docs', hintOf(path, lookIn(world, path)));
    await world.until(() => world.remote('a.md') === 'two!', 'the edit arrives');
    await world.until(() => world.remote('new.md') === 'new', 'the new file arrives');
    await world.until(() => world.remote('deep/er/d.md') === 'below', 'the directories arrive');
    await world.until(() => removedKeys(running).join() === 'b.md', 'the file is removed');
    expect(running.passes).toHaveLength(1);
  });

  test('waits until it sees what the other host saw, and removes nothing that may have moved there', async () => {
    let isOld = false;
    let old: ReturnType<Disk['lstat']> | null = null;
    const seenAsItWas = (path: string): boolean => isOld && path.endsWith('/a.md');
    const disk: Disk = {
      ...DISK,
      lstat: (path) => (seenAsItWas(path) && old !== null ? old : DISK.lstat(path)),
    };
    const removals = { mode: 'expire', delay: '1s' };
    const world = await createDaemonWorld({ ...POLLING, removals }, {}, 0, 0.5, disk);
    for (const name of ['a', 'b', 'c']) world.write(`docs/${name}.md`, 'one');
    const running = await world.start();
    old = DISK.lstat(world.at('docs/a.md'));
    isOld = true;
    world.write('docs/a.md', 'two!');
    world.remove('docs/b.md');
    for (const path of ['a.md', 'b.md']) running.daemon.hear('docs', hintOf(path, lookIn(world, path)));
    await world.wait(20_000);
    expect([world.remote('a.md'), removedKeys(running)]).toEqual(['one', []]);
    isOld = false;
    await world.until(() => world.remote('a.md') === 'two!', 'what the other host saw arrives');
    await world.until(() => removedKeys(running).join() === 'b.md', 'the file is removed');
    expect(running.passes).toHaveLength(1);
  });

  test('takes up other patterns, and rescans everything where more is said to have changed', async () => {
    const world = await createDaemonWorld(POLLING);
    world.write('docs/a.md', 'one');
    const running = await world.start();
    const triggers = (): string[] => running.passes.map(({ trigger }) => trigger);
    world.write('docs/.botsyncignore', 'drafts/\n');
    running.daemon.hear('docs', hintOf('.botsyncignore', lookIn(world, '.botsyncignore')));
    await world.until(() => triggers().includes('ignore-file'), 'the patterns are taken up');
    world.write('docs/b.md', 'two');
    running.daemon.hear('docs', { kind: 'everything' });
    await world.until(() => world.remote('b.md') === 'two', 'everything is rescanned');
    expect(running.told).toEqual(['lost docs much was written on another host']);
    const seen = running.passes.length;
    world.write('docs/c.md', 'three');
    await world.until(() => world.remote('c.md') === 'three', 'everything is rescanned once more', 1000);
    await world.until(() => running.passes.length > seen, 'the pass ends');
    expect(triggers()).toEqual(['start', 'ignore-file', 'lost', 'lost']);
  });
});
