import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  createPatient,
  eachRow,
  expectBackInSync,
  expectReadersToCope,
  FRAME_BYTES,
  keptBeside,
  LOG_HEADER_BYTES,
  PAGE_BYTES,
  passThroughDamage,
  type Files,
  type Patient,
} from './fixture.ts';

/** A state file as something left it. */
interface Row {
  readonly what: string;
  readonly files: Files;
  /** Whether the damage shows: then the file is kept under another name. */
  readonly isKept?: boolean;
}

/** Of so many rows of a long table one is run; `npm run test:damage` runs all. */
const STRIDE = Number(process.env['DAMAGE_STRIDE'] ?? 3);

/** The rows to run: one of each group, and each time another, so that each kind of damage has its turn. */
function sampleOf(rows: readonly Row[]): readonly Row[] {
  return rows.filter((_, n) => n % STRIDE === Math.floor(n / STRIDE) % STRIDE || n === rows.length - 1);
}

/** Puts every row's files there, looks at them as those who only read do, and then makes a pass. */
async function recoverFromEach(
  { world, stateFile, put }: Patient,
  rows: readonly Row[],
  checkThoroughly: boolean,
): Promise<void> {
  await eachRow(rows, async ({ files, isKept }) => {
    put(files);
    await expectReadersToCope(world);
    const first = await passThroughDamage(world, { checkThoroughly });
    const kept = keptBeside(stateFile);
    if (isKept !== undefined) expect(kept.length).toBe(isKept ? 1 : 0);
    // Where it shows at once, what is kept is what was found.
    if (isKept === true)
      expect(kept.map((file) => readFileSync(file).equals(files[''] ?? Buffer.alloc(0)))).toEqual([true]);
    await expectBackInSync(world, first);
  });
}

/** Numbers that look random and are the same every time (xorshift). */
function* numbers(seed: number): Generator<number, never> {
  for (let x = seed; ;) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    yield x >>> 0;
  }
}

/** The bytes with some bits turned over within a range. */
function flipped(bytes: Buffer, from: number, to: number, count: number, seed: number): Buffer {
  const copy = Buffer.from(bytes);
  const random = numbers(seed);
  for (let n = 0; n < count; n++) {
    const at = from + (random.next().value % (to - from));
    copy[at] = (copy[at] ?? 0) ^ (1 << (random.next().value % 8));
  }
  return copy;
}

const SEED = 20260301;

describe('the database', () => {
  test('truncated at every page, and within every page', async () => {
    const patient = await createPatient();
    const { closed } = patient;
    const all = closed[''] as Buffer;
    const rows = Array.from({ length: all.length / PAGE_BYTES }, (_, page) => page * PAGE_BYTES).flatMap(
      (at): Row[] => [
        // Nothing is left to keep of an empty one.
        { what: `at ${at}`, files: { '': all.subarray(0, at) }, isKept: at > 0 },
        // The last page is a free one: nothing is lost with its end.
        {
          what: `at ${at + 1000}`,
          files: { '': all.subarray(0, at + 1000) },
          isKept: at + PAGE_BYTES < all.length,
        },
      ],
    );
    expect(rows.length).toBeGreaterThan(40);
    await recoverFromEach(patient, sampleOf(rows), true);
  });

  test('every page in turn filled with zeros, ones, and the page before it', async () => {
    const patient = await createPatient();
    const all = patient.closed[''] as Buffer;
    const rows: Row[] = [];
    for (let at = 0; at < all.length; at += PAGE_BYTES) {
      const before = all.subarray(at - PAGE_BYTES, at);
      for (const [what, fill] of [
        ['zeros', 0],
        ['ones', 0xff],
        ['the page before', before],
      ] as const) {
        if (fill instanceof Buffer && fill.length === 0) continue;
        rows.push({
          what: `${what} at ${at}`,
          files: { '': Buffer.from(all).fill(fill, at, at + PAGE_BYTES) },
        });
      }
    }
    await recoverFromEach(patient, sampleOf(rows), true);
  });

  // Where no one was killed, the file is not read through first: damage shows in the midst, or not at all.
  test.each([true, false])('bits flipped in every page, read through first: %j', async (checkThoroughly) => {
    const patient = await createPatient();
    const all = patient.closed[''] as Buffer;
    const rows: Row[] = [];
    for (let at = 0; at < all.length; at += PAGE_BYTES) {
      for (const count of [1, 3, 40]) {
        const bytes = flipped(all, at, at + PAGE_BYTES, count, SEED + at + count);
        rows.push({ what: `${count} at ${at}`, files: { '': bytes } });
      }
    }
    await recoverFromEach(patient, sampleOf(rows), checkThoroughly);
  });

  test('every byte of its header flipped', async () => {
    const patient = await createPatient(3);
    const all = patient.closed[''] as Buffer;
    const rows = Array.from({ length: 100 }, (_, at): Row => {
      const bytes = Buffer.from(all);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      return { what: `${at}`, files: { '': bytes } };
    });
    // Of another program or version by its header: not for us, and not touched. So is one that SQLite takes for
    // newer than itself (18): it is read, and not written.
    const notOurs = new Set([18, 60, 61, 62, 63, 68, 69, 70, 71].map(String));
    await recoverFromEach(
      patient,
      rows.filter(({ what }) => !notOurs.has(what)),
      true,
    );
    const left = rows.filter(({ what }) => notOurs.has(what));
    await eachRow(left, async ({ files }) => {
      patient.put(files);
      await expect(patient.world.pass()).rejects.toThrow(
        /^(newer|foreign|attempt to write a readonly database)$/u,
      );
      expect(readFileSync(patient.stateFile).equals(files[''] ?? Buffer.alloc(0))).toBe(true);
    });
  });

  test('something else in its place', async () => {
    const patient = await createPatient();
    const text = Buffer.from('no database at all, whatever its name may say\n'.repeat(200));
    await recoverFromEach(
      patient,
      [
        { what: 'nothing', files: {}, isKept: false },
        { what: 'an empty file', files: { '': Buffer.alloc(0) }, isKept: false },
        { what: 'a text', files: { '': text }, isKept: true },
        { what: 'a few bytes', files: { '': Buffer.from('xyz') }, isKept: true },
        { what: 'zeros', files: { '': Buffer.alloc(100_000) }, isKept: true },
        { what: 'a text behind a good header', files: { '': behindHeader(patient, text) }, isKept: true },
      ],
      true,
    );
  });
});

function behindHeader({ closed }: Patient, text: Buffer): Buffer {
  return Buffer.concat([(closed[''] as Buffer).subarray(0, 100), text]);
}

describe('the write-ahead log', () => {
  const logOf = ({ killed }: Patient): Buffer => killed['-wal'] as Buffer;

  test('cut at every frame and within it: what stands before the cut counts', async () => {
    const patient = await createPatient();
    const log = logOf(patient);
    const frames = Math.floor((log.length - LOG_HEADER_BYTES) / FRAME_BYTES);
    expect(frames).toBeGreaterThan(10);
    const cuts = Array.from({ length: frames + 1 }, (_, frame) => LOG_HEADER_BYTES + frame * FRAME_BYTES);
    const rows = [0, 10, ...cuts.flatMap((at) => [at, at + 12, at + 2000])].map((at): Row => ({
      what: `at ${at}`,
      files: { ...patient.killed, '-wal': log.subarray(0, at) },
    }));
    await recoverFromEach(patient, sampleOf(rows), true);
  });

  test('bits flipped in its header and in every frame', async () => {
    const patient = await createPatient();
    const log = logOf(patient);
    const rows: Row[] = [
      { what: 'header', files: { ...patient.killed, '-wal': flipped(log, 0, LOG_HEADER_BYTES, 1, SEED) } },
    ];
    for (let at = LOG_HEADER_BYTES; at + FRAME_BYTES <= log.length; at += FRAME_BYTES) {
      for (const [what, to] of [
        ['the header of the frame', 24],
        ['the frame', FRAME_BYTES],
      ] as const) {
        const bytes = flipped(log, at, at + to, 1, SEED + at);
        rows.push({ what: `${what} at ${at}`, files: { ...patient.killed, '-wal': bytes } });
      }
    }
    await recoverFromEach(patient, sampleOf(rows), true);
  });

  test('lost, foreign, or beside another database; and other companions', async () => {
    const patient = await createPatient();
    const { killed, closed } = patient;
    const garbage = Buffer.from('what is this?'.repeat(3000));
    const database = closed[''] as Buffer;
    const cut = database.subarray(0, 5 * PAGE_BYTES);
    await recoverFromEach(
      patient,
      [
        { what: 'the log lost', files: { '': killed[''] ?? Buffer.alloc(0) } },
        { what: 'the database lost', files: { '-wal': logOf(patient) }, isKept: false },
        { what: 'garbage in place of the log', files: { ...killed, '-wal': garbage } },
        { what: 'the log of an earlier time', files: { '': database, '-wal': logOf(patient) } },
        { what: 'a damaged database with a sound log', files: { '': cut, '-wal': logOf(patient) } },
        { what: 'a damaged database with a damaged log', files: { '': cut, '-wal': garbage }, isKept: true },
        { what: 'garbage in place of the shared memory', files: { ...killed, '-shm': garbage } },
        { what: 'garbage as a journal', files: { '': database, '-journal': garbage } },
        { what: 'a cut file with all companions', files: allCompanions(cut, garbage), isKept: true },
      ],
      true,
    );
  });
});

function allCompanions(database: Buffer, garbage: Buffer): Files {
  return { '': database, '-wal': garbage, '-shm': garbage, '-journal': garbage };
}

test('a directory instead of the state file, or of its log, is told of and left alone', async () => {
  const { world, stateFile, put, closed } = await createPatient(3);
  for (const end of ['', '-wal', '-shm']) {
    put(end === '' ? {} : closed);
    mkdirSync(stateFile + end);
    writeFileSync(`${stateFile}${end}/theirs`, 'precious');
    await expect(world.pass()).rejects.toThrow(/^unusable$|readonly|unable to open/u);
    expect(readFileSync(`${stateFile}${end}/theirs`, 'utf8')).toBe('precious');
    put(closed);
    await expectBackInSync(world, await world.pass());
  }
});

test('what went from the directory is not removed on the platform by a state file that was damaged', async () => {
  const { world, stateFile, put, closed } = await createPatient();
  rmSync(`${world.directory}/docs/${world.keys()[7] ?? ''}`);
  put({ '': (closed[''] as Buffer).subarray(0, 10 * PAGE_BYTES) });
  const before = world.keys();
  await expectBackInSync(world, await passThroughDamage(world));
  expect(keptBeside(stateFile)).toHaveLength(1);
  world.clock.advance(600_000);
  expect(world.keys()).toEqual(before);
});

test('a bit flipped in what says how the tables are made is damage, whoever meets it', async () => {
  const patient = await createPatient(3);
  const all = patient.closed[''] as Buffer;
  const words = [
    'fingerprint TEXT',
    'renew_at    INTEGER',
    'told_at INTEGER',
    'size    INTEGER',
    'reason TEXT',
    'request_limit INTEGER',
  ];
  const rows = words.map((word): Row => {
    const bytes = Buffer.from(all);
    // Everywhere: some places may be what was left behind when a page was split.
    for (let at = bytes.indexOf(word); at !== -1; at = bytes.indexOf(word, at + 1))
      bytes[at + 1] = (bytes[at + 1] ?? 0) ^ 1;
    return { what: word, files: { '': bytes }, isKept: true };
  });
  await recoverFromEach(patient, rows, false);
});
