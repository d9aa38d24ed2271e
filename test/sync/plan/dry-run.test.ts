import { utimesSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RelativePath } from '../../../src/domain/key.ts';
import type { FileEvent, Summary } from '../../../src/domain/report.ts';
import { explain } from '../../../src/sync/plan/explain.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { FatDisk } from '../../file-systems/fat-disk.ts';
import { SEED } from '../../seed.ts';
import type { PassOutcome } from '../world.ts';
import {
  NFC,
  NFD,
  SMALL,
  TOO_LARGE,
  createTwoSources,
  step,
  take,
  type Step,
  type Worlds,
} from './two-sources.ts';

/** What a run is compared by: not how long it took, nor in which order transfers ended. */
interface Shape {
  readonly exitCode: number;
  readonly summary: Summary;
  readonly events: readonly string[];
}

function shapeOf({ exitCode, summary, events }: Pick<PassOutcome, 'exitCode' | 'summary' | 'events'>): Shape {
  // What a halt holds back only a dry run lists.
  const carriedOut = events.filter(({ kind, reason }) => kind !== 'remove' || !reason.includes('held back'));
  return { exitCode, summary: { ...summary, durationMs: 0 }, events: carriedOut.map(lineOf).sort() };
}

/** An event as one line; a pass adds to a halt that nothing was removed, and what to do; a dry run says that it would come. */
function lineOf({ kind, source, path, key, reason }: FileEvent): string {
  const said = /^(?:would be )?halted: /u.test(reason)
    ? reason.replace(/^would be /u, '').replace(/; (?:nothing|none of these) was.*/u, '')
    : reason;
  return `${kind} ${source}:${path} (${key ?? '-'}) ${said}`;
}

/** Holds `explain` of single files against what a dry run said of them. */
function expectExplained(world: Worlds, events: readonly FileEvent[]): void {
  const config = world.config();
  const sources = findSources(config, config.platform.baseUrl);
  const state = world.open();
  const input = { config, sources, state, nowMs: world.clock.now() };
  for (const event of events) {
    const found = sources.find(({ config: { name } }) => name === event.source);
    // It knows nothing of other removals, nor how names are spelt in other normal forms.
    const isItsAffair = event.kind !== 'remove' && event.path !== '.' && /^[ -~]*$/u.test(event.path);
    if (found?.kind !== 'found' || !isItsAffair) continue;
    const { action, reason } = explain(found.source, event.path as RelativePath, input);
    const said = { action, reason: reason.replace(', and not changed since', '') };
    const planned = { action: event.kind, reason: event.reason };
    // Whether a file has changed is not read.
    expect(said).toEqual(action === 'verify' && event.kind === 'upload' ? said : planned);
  }
  state.close();
}

/** Plans, passes, and holds the plan, and `explain`, against the pass. */
async function expectPlanIsPass(world: Worlds): Promise<Shape> {
  const planned = await world.plan();
  expectExplained(
    world,
    planned.events.filter(({ reason }) => !reason.includes('held back')),
  );
  const plan = shapeOf(planned);
  const pass = shapeOf(await world.pass());
  expect(plan).toEqual(pass);
  return pass;
}

/** What happens in two sources, `docs` and `more`, before a pass, and what that comes to. */
interface Happening {
  readonly removals: 'keep' | 'expire';
  readonly steps: readonly (Step | 'pass')[];
  readonly summary: Partial<Summary>;
}

const write = (file: string, content = SMALL): Step => ({ kind: 'write', path: file, content });
const remove = (file: string): Step => ({ kind: 'remove', path: file });
const rename = (file: string, to: string): Step => ({ kind: 'rename', path: file, to });
const faulty = (key: string, status: number): Step => ({ kind: 'faulty', key, status });
const wait = (ms: number): Step => ({ kind: 'wait', ms });
const upTo = (count: number): number[] => [...Array(count).keys()].map((n) => n + 1);
const MINUTE = 60_000;

test.each<[string, Happening]>([
  [
    'of everything at once',
    {
      removals: 'expire',
      steps: [
        ...['same', 'changed', 'touched', 'gone', 'd.due', `${NFD}1`].map((name) => write(`docs/${name}`)),
        write('docs/refused'),
        faulty('refused', 400),
        write('docs/failed'),
        faulty('failed', 500),
        wait(9 * 24 * 60 * MINUTE),
        write('docs/new'),
        write('docs/changed', 'other'),
        { kind: 'touch', path: 'docs/touched' },
        remove('docs/gone'),
        write('docs/large.idx', TOO_LARGE),
        write('docs/large.skip', TOO_LARGE),
        rename(`docs/${NFD}1`, `docs/${NFC}1`),
        { kind: 'unreadable' },
      ],
      summary: {
        ...{ uploaded: 3, renewed: 1, removed: 1, unchanged: 5, skipped: 1, refused: 2, failed: 0 },
        ...{ problems: 1, kept: 0, pending: 0 },
      },
    },
  ],
  [
    'of a file that loses its key to one that stands before it',
    {
      removals: 'keep',
      steps: [write('more/a'), 'pass', write('docs/a', 'other')],
      summary: { uploaded: 1, problems: 1, unchanged: 2 },
    },
  ],
  [
    'of a file that went to a source further on, under the same key',
    {
      removals: 'keep',
      steps: [write('docs/a'), 'pass', rename('docs/a', 'more/a')],
      summary: { kept: 0, unchanged: 3 },
    },
  ],
  [
    'of a name that is spelt in another normal form now, further on',
    {
      removals: 'keep',
      steps: [write(`docs/${NFD}`), 'pass', rename(`docs/${NFD}`, `docs/${NFC}`)],
      summary: { kept: 0, unchanged: 3 },
    },
  ],
  [
    'of a removed file that may have been renamed to one that is refused',
    {
      removals: 'expire',
      steps: [write('docs/a', TOO_LARGE), 'pass', rename('docs/a', 'docs/b.idx')],
      summary: { refused: 1, removed: 0, pending: 1 },
    },
  ],
  [
    'of a removed file that may have been renamed to one that was refused before',
    {
      removals: 'expire',
      steps: [
        write('docs/a', TOO_LARGE),
        'pass',
        { kind: 'break' },
        rename('docs/a', 'docs/b'),
        faulty('b', 400),
        { kind: 'mend' },
      ],
      summary: { refused: 1, removed: 0, pending: 1 },
    },
  ],
  [
    'of too many removals where something cannot be seen: nothing is removed, and nothing halted',
    {
      removals: 'expire',
      steps: [
        ...[1, 2, 3, 4].map((n) => write(`docs/${n}`)),
        'pass',
        ...[1, 2, 3, 4].map((n) => remove(`docs/${n}`)),
        { kind: 'break' },
      ],
      summary: { removed: 0, toRemove: 4, kept: 0, problems: 1 },
    },
  ],
  [
    'of a file whose removal was halted, and that cannot be seen now',
    {
      removals: 'expire',
      steps: [
        ...['a', 'b', 'c', 'lost'].map((name) => write(`docs/${name}`)),
        'pass',
        ...['a', 'b', 'c', 'lost'].map((name) => remove(`docs/${name}`)),
        'pass',
        { kind: 'break' },
      ],
      summary: { removed: 0, problems: 1, toRemove: 4, kept: 0 },
    },
  ],
  [
    'of a removed file that is back, and refused',
    {
      removals: 'expire',
      steps: [
        ...['b.idx', 'c', 'd', 'e'].map((name) => write(`docs/${name}`)),
        'pass',
        ...['b.idx', 'c', 'd', 'e'].map((name) => remove(`docs/${name}`)),
        'pass',
        ...['c', 'd', 'e'].map((name) => write(`docs/${name}`)),
        write('docs/b.idx', TOO_LARGE),
      ],
      summary: { refused: 1, pending: 1, removed: 0 },
    },
  ],
  [
    'of removals that are too many of what is left once files went to a source before',
    {
      removals: 'expire',
      steps: [
        { kind: 'configure', fields: { removals: { mode: 'expire' } } },
        ...upTo(24).map((n) => write(`more/${n}`)),
        'pass',
        ...upTo(12).map((n) => rename(`more/${n}`, `docs/${n}`)),
        ...upTo(23).map((n) => remove(`more/${n}`)),
      ],
      summary: { removed: 0, problems: 1, toRemove: 11, kept: 0 },
    },
  ],
  [
    'of a file that is back after what stood in its place has expired',
    {
      removals: 'expire',
      steps: [write('docs/a'), 'pass', remove('docs/a'), 'pass', wait(10 * MINUTE), write('docs/a')],
      summary: { uploaded: 1 },
    },
  ],
])('a dry run says what the pass after it does: %s', async (_what, { removals, steps, summary }) => {
  const world = await createTwoSources({ removals: { mode: removals, maxCount: 3 } });
  for (const one of steps) {
    if (one === 'pass') await world.pass();
    else await take(world, one);
  }
  expect((await expectPlanIsPass(world)).summary).toMatchObject(summary);
});

test('a dry run reads again what a pass reads again because its fingerprint would not show a change', async () => {
  const world = await createTwoSources();
  const disk = new FatDisk(world.at('docs'));
  const put = (content: string): void => {
    world.write('docs/a', content);
    utimesSync(world.at('docs/a'), 1_700_000_000, 1_700_000_000);
  };
  put('one');
  await world.pass({ disk });
  put('two');
  world.clock.advance(24 * 60 * MINUTE);
  const plan = shapeOf(await world.plan({ disk }));
  expect(plan).toEqual(shapeOf(await world.pass({ disk })));
  expect(plan.events).toEqual(['upload docs:a (a) changed']);
});

test(`a dry run says what the pass after it does, whatever happened before (seed ${SEED})`, async () => {
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 4 });
  const property = fc.asyncProperty(rounds, async (all) => {
    const world = await createTwoSources();
    for (const steps of all) {
      for (const one of steps) await take(world, one);
      await expectPlanIsPass(world);
    }
    await world.close();
  });
  await fc.assert(property, { seed: SEED, numRuns: 25 });
}, 120_000);

test('a dry run before anything was sent takes the keys of two bots for two', async () => {
  const world = await createTwoSources({
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
  });
  for (const source of ['docs', 'more']) world.write(`${source}/a`, source);
  expect((await expectPlanIsPass(world)).summary).toMatchObject({ uploaded: 4, problems: 0 });
});
