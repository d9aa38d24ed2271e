import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import fc from 'fast-check';
import { createWorld, refuseUpserts } from '../world.ts';

/** Cannot be read, not even by root. */
const UNREADABLE = '/proc/sys/net/ipv4/route/flush';

/** Contents below and above the limit for indexing. */
export const SMALL = 'abc';
export const TOO_LARGE = 'more than is indexed';

const FIELDS = {
  limits: { indexBytes: 10 },
  upload: { attempts: 1 },
  rules: [
    { match: '*.idx', index: true },
    { match: '*.skip', index: true, whenTooLargeToIndex: 'skip' },
    { match: '*.due', expiresIn: '10d' },
  ],
};

/** A name in two spellings, which give the same key. */
export const NFC = '\u00e9';
export const NFD = 'e\u0301';

const NAMES = ['a', 'x/a', 'b.idx', 'c.skip', 'd.due', NFC, NFD];
const PATHS = NAMES.flatMap((name) => [`docs/${name}`, `more/${name}`]);

/** Something that is done to two sources or to their platform. */
export type Step =
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'touch' | 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  /** A link that leads nowhere, which may hide files; what must not be read. */
  | { readonly kind: 'break' | 'unreadable' | 'mend' }
  | { readonly kind: 'configure'; readonly fields: Record<string, unknown> }
  | { readonly kind: 'faulty'; readonly status: number; readonly key: string }
  | { readonly kind: 'wait'; readonly ms: number };

/** The two sources with fields of their own. */
const sourcesWith = (docs: object, more: object): object => ({
  sources: [
    { directory: './docs', symlinks: 'follow', ...docs },
    { directory: './more', symlinks: 'follow', ...more },
  ],
});

const path = fc.constantFrom(...PATHS);
/** Any step. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('write'), path, content: fc.constantFrom(SMALL, TOO_LARGE) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('touch'), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), path }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename'), path, to: path }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>({ kind: 'break' }, { kind: 'unreadable' }, { kind: 'mend' }),
  },
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
export async function createTwoSources(fields: Record<string, unknown> = {}) {
  const world = await createWorld({ ...FIELDS, ...sourcesWith({}, {}), ...fields });
  for (const source of ['docs', 'more']) world.write(`${source}/of-${source}`, source);
  return world;
}

/** Such a world. */
export type Worlds = Awaited<ReturnType<typeof createTwoSources>>;

/** Takes a step. */
export async function take(world: Worlds, one: Step): Promise<void> {
  const at = (path: string): string => world.at(path);
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
      break;
    case 'unreadable':
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
