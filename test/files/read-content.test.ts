import { createHash, randomBytes } from 'node:crypto';
import { fstatSync, appendFileSync, renameSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ChangedWhileRead,
  hashContent,
  readContent,
  WHOLE_UP_TO_BYTES,
} from '../../src/files/read-content.ts';
import { openSourceFile, SourceFile } from '../../src/files/source-file.ts';
import {
  at,
  breakReading,
  makeSource,
  open,
  reopenAs,
  rewriteSlyly,
  type TestSource,
} from './source-fixture.ts';

const LARGE = 5 * 256 * 1024 + 7;

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

describe('content', () => {
  test.each([
    [0, 'whole'],
    [1, 'whole'],
    [WHOLE_UP_TO_BYTES - 1, 'whole'],
    [WHOLE_UP_TO_BYTES, 'whole'],
    [WHOLE_UP_TO_BYTES + 1, 'stream'],
    [2 * WHOLE_UP_TO_BYTES, 'stream'],
    [LARGE, 'stream'],
  ])('of %d bytes is read %s, with the digest of what was read', async (size, kind) => {
    const { source, write } = makeSource();
    const bytes = randomBytes(size);
    write('a', bytes);
    const { content, digest, readError } = readContent(open(source, 'a'));
    expect(content.kind).toBe(kind);
    if (content.kind === 'whole') {
      expect(content.bytes.equals(bytes)).toBe(true);
    } else {
      expect(content.sizeBytes).toBe(size);
      const chunks: Buffer[] = [];
      for await (const chunk of content.chunks) chunks.push(Buffer.from(chunk));
      expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    }
    expect(digest().toString('hex')).toBe(sha256(bytes));
    expect(readError()).toBeNull();
    expect((await hashContent(open(source, 'a'))).toString('hex')).toBe(sha256(bytes));
  });

  test('can be hashed first and read afterwards', async () => {
    const { source, write } = makeSource();
    const bytes = randomBytes(LARGE);
    write('a', bytes);
    const file = open(source, 'a');
    expect((await hashContent(file)).toString('hex')).toBe(sha256(bytes));
    const { content, digest } = readContent(file);
    if (content.kind !== 'stream') throw new Error(content.kind);
    for await (const chunk of content.chunks) expect(chunk.length).toBeGreaterThan(0);
    expect(digest().toString('hex')).toBe(sha256(bytes));
  });
});

/** Each on a file that holds only 'x', of any size. */
const CHANGES: [string, (path: string, size: number, source: TestSource) => void][] = [
  [
    'grown',
    (path) => {
      appendFileSync(path, 'y');
    },
  ],
  [
    'shrunk',
    (path, size) => {
      truncateSync(path, size - 1);
    },
  ],
  [
    'emptied',
    (path) => {
      truncateSync(path, 0);
    },
  ],
  [
    'rewritten in place, mtime set back',
    (path, size) => {
      rewriteSlyly(path, Buffer.alloc(size, 'y'));
    },
  ],
];

describe('small content that changed after it was opened', () => {
  test.each(CHANGES)('%s', async (_, change) => {
    const made = makeSource();
    const path = made.write('a', 'xxxxx');
    const file = open(made.source, 'a');
    change(path, 5, made);
    expect(() => readContent(file)).toThrow(ChangedWhileRead);
    await expect(hashContent(file)).rejects.toThrow(ChangedWhileRead);
  });

  test('but was only replaced is whole: what is sent is a state the file had', () => {
    const { source, write } = makeSource();
    const path = write('a', 'xxxxx');
    const file = open(source, 'a');
    renameSync(write('b', 'yyyyy'), path);
    let sent: string | null = null;
    try {
      const { content } = readContent(file);
      sent = content.kind === 'whole' ? content.bytes.toString() : null;
    } catch (error) {
      // Just as well: it is sent again anyhow.
      expect(error).toBeInstanceOf(ChangedWhileRead);
    }
    expect(sent === null || sent === 'xxxxx').toBe(true);
  });
});

describe('large content that changed while it was read', () => {
  const REPLACED: typeof CHANGES = [
    [
      'replaced',
      (path, size, { write }) => {
        renameSync(write('b', Buffer.alloc(size, 'y')), path);
      },
    ],
    [
      // The file itself shows nothing of that.
      'replaced with its directory',
      (path, size, { root, write }) => {
        renameSync(dirname(path), join(root, 'was'));
        write('d/a', Buffer.alloc(size, 'y'));
      },
    ],
  ];
  const moments = ['before the first chunk', 'after the first chunk', 'before the last chunk'] as const;
  const rows = [...CHANGES, ...REPLACED].flatMap(([what, change]) =>
    moments.map((moment, at) => ({ what, change, moment, chunksBefore: [0, 1, 5][at] ?? 0 })),
  );

  test.each(rows)('$what $moment', async ({ change, chunksBefore }) => {
    const made = makeSource();
    const path = made.write('d/a', Buffer.alloc(LARGE, 'x'));
    const { content, readError } = readContent(open(made.source, 'd/a'));
    if (content.kind !== 'stream') throw new Error(content.kind);
    const chunks = content.chunks[Symbol.asyncIterator]();
    let letGo = 0;
    for (let i = 0; i < chunksBefore; i += 1) letGo += ((await chunks.next()).value as Buffer).length;
    change(path, LARGE, made);
    const rest = async (): Promise<void> => {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
        letGo += next.value.length;
    };
    await expect(rest()).rejects.toThrow(ChangedWhileRead);
    expect(readError()).toBeInstanceOf(ChangedWhileRead);
    // Without its last byte no upload is ever complete.
    expect(letGo).toBeLessThan(LARGE);
  });

  test.each(CHANGES)('%s, while it was only hashed', async (_, change) => {
    const made = makeSource();
    const path = made.write('a', Buffer.alloc(LARGE, 'x'));
    const hashing = hashContent(open(made.source, 'a'));
    change(path, LARGE, made);
    await expect(hashing).rejects.toThrow(ChangedWhileRead);
  });
});

test('what a file system gives in bits stays as it is: a connection may still be busy with them', async () => {
  class Stuttering extends SourceFile {
    override read(at: number, into: Buffer): Promise<Buffer> {
      return super.read(at, into.subarray(0, 300_000));
    }
  }
  const { source, write } = makeSource();
  const bytes = randomBytes(LARGE);
  write('a', bytes);
  const { fd } = open(source, 'a');
  const { content, digest } = readContent(
    new Stuttering(fd, fstatSync(fd, { bigint: true }), `${source.root}/a`),
  );
  if (content.kind !== 'stream') throw new Error(content.kind);
  const chunks: Buffer[] = [];
  for await (const chunk of content.chunks) chunks.push(chunk);
  expect(chunks.length).toBeGreaterThan(4);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  expect(digest().toString('hex')).toBe(sha256(bytes));
});

describe('content that cannot be read to its end', () => {
  test('is an error of the file system, also while nobody waits for the next chunk', async () => {
    const { root, source, write } = makeSource();
    write('a', Buffer.alloc(LARGE, 'x'));
    const file = open(source, 'a');
    const { content, readError } = readContent(file);
    if (content.kind !== 'stream') throw new Error(content.kind);
    const chunks = content.chunks[Symbol.asyncIterator]();
    await chunks.next();
    breakReading(file.fd, root);
    // A slow receiver: the next reading fails long before it is asked for.
    const receiveSlowly = async (): Promise<void> => {
      do await manyTurns();
      while ((await chunks.next()).done !== true);
    };
    await expect(receiveSlowly()).rejects.toMatchObject({ code: 'EISDIR' });
    expect(readError()).toMatchObject({ code: 'EISDIR' });
  });

  test("is nobody's concern any more when the receiver has left", async () => {
    const { root, source, write } = makeSource();
    write('a', Buffer.alloc(LARGE, 'x'));
    const file = open(source, 'a');
    const { content } = readContent(file);
    if (content.kind !== 'stream') throw new Error(content.kind);
    const chunks = content.chunks[Symbol.asyncIterator]();
    await chunks.next();
    breakReading(file.fd, root);
    await chunks.next().catch(() => undefined);
    await chunks.return?.();
    await manyTurns();
  });

  test('is not read on once its file is closed: the descriptor may be another file by then', async () => {
    const { source, write } = makeSource();
    write('a', Buffer.alloc(LARGE, 'x'));
    const other = write('other', Buffer.alloc(LARGE, 'o'));
    const opened = openSourceFile(source, at('a'));
    if (opened.kind !== 'open') throw new Error(opened.kind);
    const { file } = opened;
    const { content } = readContent(file);
    if (content.kind !== 'stream') throw new Error(content.kind);
    // A transfer that is aborted leaves the generator where it is, with a read-ahead under way.
    const chunks = content.chunks[Symbol.asyncIterator]();
    await chunks.next();
    await file.close();
    reopenAs(file.fd, other);
    const received: Buffer[] = [];
    const readOn = async (): Promise<void> => {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
        received.push(Buffer.from(next.value));
    };
    await expect(readOn()).rejects.toThrow('closed');
    expect(Buffer.concat(received).includes('o')).toBe(false);
    expect(file.isUnchanged()).toBe(false);
  });

  test('also when it is small', () => {
    const { root, source, write } = makeSource();
    write('a', 'xxx');
    const file = open(source, 'a');
    breakReading(file.fd, root);
    expect(() => readContent(file)).toThrow(/EISDIR/u);
  });
});

/** Enough turns of the loop for a reading to end. */
async function manyTurns(): Promise<void> {
  for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
