import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FileEvent, Summary } from '../../../src/domain/report.ts';
import { SEED } from '../../seed.ts';
import { createWorld, refuseUpserts, type World } from '../world.ts';

/** What a run is compared by: not how long it took, nor in which order transfers ended. */
interface Shape {
  readonly exitCode: number;
  readonly summary: Summary;
  readonly events: readonly string[];
}

function shapeOf({ exitCode, summary, events }: Omit<Awaited<ReturnType<World['pass']>>, 'requests'>): Shape {
  return { exitCode, summary: { ...summary, durationMs: 0 }, events: events.map(lineOf).sort() };
}

/** An event as one line; a pass adds to a halt that nothing was removed, and what to do. */
function lineOf({ kind, source, path, key, reason }: FileEvent): string {
  const said = reason.startsWith('halted: ')
    ? reason.replace(/; (?:nothing|none of these) was.*/u, '')
    : reason;
  return `${kind} ${source}:${path} (${key ?? '-'}) ${said}`;
}

/** Plans, passes, and holds the plan against the pass. */
async function expectPlanIsPass(world: World): Promise<Shape> {
  const plan = shapeOf(await world.plan());
  const pass = shapeOf(await world.pass());
  expect(plan).toEqual(pass);
  return pass;
}

/** Cannot be read, not even by root. */
const UNREADABLE = '/proc/sys/net/ipv4/route/flush';

const SMALL = 'abc';
const TOO_LARGE = 'more than is indexed';

const FIELDS = {
  limits: { indexBytes: 10 },
  upload: { attempts: 1 },
  rules: [
    { match: '*.idx', index: true },
    { match: '*.skip', index: true, whenTooLargeToIndex: 'skip' },
    { match: '*.due', expiresIn: '10d' },
  ],
};

const NAMES = ['a', 'b', 'x/a', 'b.idx', 'c.skip', 'd.due', '\u00e9', 'e\u0301'];
const PATHS = NAMES.flatMap((name) => [`docs/${name}`, `more/${name}`]);

type Step =
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'touch' | 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'break' | 'mend' }
  | { readonly kind: 'configure'; readonly fields: Record<string, unknown> }
  | { readonly kind: 'faulty'; readonly status: number; readonly key: string }
  | { readonly kind: 'wait'; readonly ms: number };

const sourcesWith = (docs: object, more: object): object => ({
  sources: [
    { directory: './docs', symlinks: 'follow', ...docs },
    { directory: './more', symlinks: 'follow', ...more },
  ],
});

const path = fc.constantFrom(...PATHS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('write'), path, content: fc.constantFrom(SMALL, TOO_LARGE) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('touch'), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), path }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename'), path, to: path }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'break' }, { kind: 'mend' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('configure'),
      fields: fc.constantFrom<Record<string, unknown>>(
        { removals: { mode: 'keep' } },
        { removals: { mode: 'expire', maxCount: 1 } },
        { removals: { mode: 'expire' } },
        { ...sourcesWith({}, {}) },
        { ...sourcesWith({ ignore: ['a'] }, {}) },
        { ...sourcesWith({}, { keyPrefix: 'x/' }) },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('faulty'),
      status: fc.constantFrom(400, 500),
      key: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(60_000, 300_000, 700_000_000) }),
  },
);

/** A world with two sources that may give the same keys. */
async function createTwoSources(fields: Record<string, unknown> = {}) {
  const world = await createWorld({ ...FIELDS, ...sourcesWith({}, {}), ...fields });
  mkdirSync(join(world.directory, 'more'));
  return world;
}

type Worlds = Awaited<ReturnType<typeof createTwoSources>>;

async function take(world: Worlds, one: Step): Promise<void> {
  const at = (path: string): string => join(world.directory, path);
  const quietly = (work: () => void): void => {
    try {
      work();
    } catch {
      // There is no such file, or a directory.
    }
  };
  switch (one.kind) {
    case 'write':
      world.write(one.path, one.content);
      break;
    case 'touch':
      quietly(() => {
        utimesSync(at(one.path), 1_700_000_000, 1_700_000_000);
      });
      break;
    case 'remove':
      rmSync(at(one.path), { force: true });
      break;
    case 'rename':
      mkdirSync(at('more/x'), { recursive: true });
      mkdirSync(at('docs/x'), { recursive: true });
      quietly(() => {
        renameSync(at(one.path), at(one.to));
      });
      break;
    case 'break':
      quietly(() => {
        symlinkSync('nowhere', at('docs/lost'));
      });
      quietly(() => {
        symlinkSync(UNREADABLE, at('docs/secret'));
      });
      break;
    case 'mend':
      rmSync(at('docs/lost'), { force: true });
      rmSync(at('docs/secret'), { force: true });
      break;
    case 'configure':
      world.configure(one.fields);
      break;
    case 'faulty':
      refuseUpserts(world, one.status, { key: one.key });
      await world.pass();
      world.emulator.faults.clear();
      break;
    case 'wait':
      world.clock.advance(one.ms);
      break;
  }
}

test(`a dry run says what the pass after it does, whatever happened before (seed ${SEED})`, async () => {
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 4 });
  const property = fc.asyncProperty(rounds, async (all) => {
    const world = await createTwoSources();
    world.write('docs/keep', 'k');
    world.write('more/keep2', 'k');
    for (const steps of all) {
      for (const one of steps) await take(world, one);
      await expectPlanIsPass(world);
    }
    await world.close();
  });
  await fc.assert(property, { seed: SEED, numRuns: Number(process.env['RUNS'] ?? 25) });
}, 600_000);
