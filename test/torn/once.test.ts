import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../src/emulator/faults.ts';
import { observe } from '../model/observe.ts';
import { recordsClaimOnlyWhatIsThere } from '../model/invariants.ts';
import { createWorld, type PassOutcome } from '../sync/world.ts';
import { EDITORS, LINKERS, SWAPPERS, type Place, type Writer } from './writers.ts';

type World = Awaited<ReturnType<typeof createWorld>>;
type Symlinks = 'skip' | 'inside' | 'follow';

/** When somebody writes; the other side of the exchange decides it. */
interface Moment {
  readonly what: string;
  readonly operation: 'upsert' | 'upload';
  readonly fault: FaultAction;
}

const MOMENTS: readonly Moment[] = [
  { what: 'before it is opened once more', operation: 'upsert', fault: { kind: 'status', status: 500 } },
  { what: 'while the upsert waits', operation: 'upsert', fault: { kind: 'hang' } },
  { what: 'between upsert and upload', operation: 'upsert', fault: { kind: 'hang-mid-body' } },
  { what: 'while its bytes are not taken', operation: 'upload', fault: { kind: 'hang' } },
  { what: 'between upload and record', operation: 'upload', fault: { kind: 'hang-mid-body' } },
  {
    what: 'before it is opened after its content was erased',
    operation: 'upload',
    fault: { kind: 'status', status: 500 },
  },
];

/** Read whole, and streamed. */
const SIZES = [5, 600_000];

/** More than the buffers between the two sides hold: while its bytes are not taken, not all of them were read. */
const LARGE = 12_000_000;

const SECRET = 'do not read this';
const SIBLING = 'a sibling';

async function createTorn(symlinks: Symlinks): Promise<World> {
  const world = await createWorld({
    sources: [{ directory: './docs', symlinks }],
    watch: { settle: '1ms' },
  });
  world.write('docs/sibling', SIBLING);
  return world;
}

/** A pass during which somebody writes to a file. */
async function passWhileWriting(
  world: World,
  key: string,
  { operation, fault }: Moment,
  write: () => void,
): Promise<PassOutcome> {
  const { faults } = world.emulator;
  faults.add({ operation, key, ...fault });
  let hasWritten = false;
  const writeOnce = (): void => {
    if (!hasWritten) write();
    hasWritten = true;
  };
  const passing = world.pass({
    // Between two attempts.
    report: { event: () => undefined, warn: () => undefined, retrying: writeOnce, sent: () => undefined },
  });
  const isHeld = fault.kind === 'hang' || fault.kind === 'hang-mid-body';
  if (isHeld) {
    await expect.poll(() => faults.pending().length, { interval: 1 }).toBe(0);
    // Half of an answer is sent only when all was carried out.
    if (fault.kind === 'hang-mid-body' && operation === 'upload')
      await expect.poll(() => world.remote(key), { interval: 1 }).not.toBeNull();
    writeOnce();
    faults.clear();
  }
  const outcome = await passing;
  expect(hasWritten).toBe(true);
  return outcome;
}

/** What the platform is to hold of a path by what is there now; `null`: nothing new. */
function expectedOf(world: World, path: string, symlinks: Symlinks): string | null {
  const full = join(world.directory, 'docs', path);
  try {
    if (symlinks === 'skip' && lstatSync(full).isSymbolicLink()) return null;
    if (!statSync(full).isFile()) return null;
    const isInside = realpathSync(full).startsWith(realpathSync(join(world.directory, 'docs')));
    return symlinks === 'follow' || isInside ? readFileSync(full, 'utf8') : null;
  } catch {
    return null;
  }
}

function checkClaims(world: World): void {
  recordsClaimOnlyWhatIsThere(observe(world.emulator, world.config(), ['docs'], world.clock.now(), false));
}

function expectNothingOfOutside(world: World): void {
  for (const key of world.keys()) expect(world.remote(key)?.includes(SECRET) ?? false).toBe(false);
}

function uploadsOf({ emulator }: World, key: string): number {
  return emulator.requests.filter((request) => request.operation === 'upload' && request.key === key).length;
}

/** One writer at every moment and size; a row that fails is named. */
async function checkWriter(writer: Writer, symlinks: Symlinks): Promise<void> {
  const world = await createTorn(symlinks);
  const rows = MOMENTS.flatMap((moment) => {
    const sizes = moment.operation === 'upload' && moment.fault.kind === 'hang' ? [...SIZES, LARGE] : SIZES;
    return sizes.map((size) => ({ moment, size }));
  });
  for (const [n, { moment, size }] of rows.entries()) {
    const path = `dir-${n}/file`;
    try {
      world.write(`docs/${path}`, Buffer.alloc(size, 'x'));
      world.write(`outside-${n}`, SECRET.padEnd(size, '!').slice(0, Math.max(size, SECRET.length)));
      // Old, as the sly ones leave it.
      utimesSync(join(world.directory, 'docs', path), 1e9, 1e9);
      const place: Place = {
        file: join(world.directory, 'docs', path),
        sibling: join(world.directory, 'docs/sibling'),
        outside: join(world.directory, `outside-${n}`),
      };
      await passWhileWriting(world, path, moment, () => {
        writer.write(place);
      });
      checkClaims(world);
      if (symlinks !== 'follow') expectNothingOfOutside(world);
      if (symlinks === 'skip') expect(world.remote(path) === SIBLING).toBe(false);
      // What was read to its end by then was sent as it was; of what was not, the last byte was never let go.
      const expected = expectedOf(world, path, symlinks);
      if (size === LARGE && expected !== null) {
        expect(world.remote(path) === expected).toBe(true);
        expect(uploadsOf(world, path)).toBe(2);
      }
      await world.pass();
      checkClaims(world);
      if (symlinks !== 'follow') expectNothingOfOutside(world);
      if (expected !== null) expect(world.remote(path) === expected).toBe(true);
      expect(await world.pass()).toMatchObject({ requests: 0 });
      rmSync(dirname(place.file), { recursive: true, force: true });
    } catch (error) {
      throw new Error(`${moment.what}, ${size} bytes: ${(error as Error).message}`, { cause: error });
    }
  }
}

describe('somebody', () => {
  test.each(EDITORS)('$what', async (writer) => {
    await checkWriter(writer, 'skip');
  });
  test.each(SWAPPERS)('$what', async (writer) => {
    await checkWriter(writer, 'skip');
  });
  for (const symlinks of ['skip', 'inside', 'follow'] as const) {
    test.each(LINKERS)(`$what, links: ${symlinks}`, async (writer) => {
      await checkWriter(writer, symlinks);
    });
  }

  test('puts another directory instead of its own', async () => {
    await checkWriter(
      {
        what: '',
        write: ({ file, outside }) => {
          renameSync(dirname(file), `${outside}.was`);
          mkdirSync(dirname(file));
          writeFileSync(file, 'in another directory');
        },
      },
      'skip',
    );
  });

  test.each(['skip', 'inside'] as const)(
    'puts a link to the outside instead of its directory, links: %s',
    async (symlinks) => {
      const toOutside: Writer = {
        what: '',
        write: ({ file, outside }) => {
          renameSync(dirname(file), `${outside}.was`);
          symlinkSync(dirname(outside), dirname(file));
          // Under the name by which the file would be read.
          writeFileSync(join(dirname(outside), 'file'), SECRET);
        },
      };
      await checkWriter(toOutside, symlinks);
    },
  );
});
