import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { rewriteSlyly } from '../files/source-fixture.ts';

/** A file that is written to while it is sent. Absolute paths. */
export interface Place {
  readonly file: string;
  /** Another file of the source. */
  readonly sibling: string;
  /** A file that is not part of the source, and of the same size. */
  readonly outside: string;
}

/** Someone who writes without asking whether anybody reads. */
export interface Writer {
  readonly what: string;
  readonly write: (place: Place) => void;
}

/** Writers after whom a regular file is there. */
export const EDITORS: readonly Writer[] = [
  {
    what: 'appends',
    write: ({ file }) => {
      appendFileSync(file, 'more');
    },
  },
  {
    what: 'rewrites in place at the same size, and sets the mtime back',
    write: ({ file }) => {
      rewriteSlyly(file, Buffer.alloc(statSync(file).size, 'y'));
    },
  },
  {
    what: 'truncates',
    write: ({ file }) => {
      truncateSync(file, statSync(file).size - 2);
    },
  },
  {
    what: 'truncates to nothing',
    write: ({ file }) => {
      truncateSync(file, 0);
    },
  },
  {
    what: 'truncates and writes again at the same size',
    write: ({ file }) => {
      const { size } = statSync(file);
      truncateSync(file, 0);
      rewriteSlyly(file, Buffer.alloc(size, 'z'));
    },
  },
  {
    what: 'replaces by rename at the same size, with the mtime of before',
    write: ({ file }) => {
      const { size } = statSync(file);
      writeFileSync(`${file}.tmp`, Buffer.alloc(size, 'y'));
      rewriteSlyly(`${file}.tmp`, Buffer.alloc(size, 'y'));
      renameSync(`${file}.tmp`, file);
    },
  },
  {
    what: 'replaces by rename at another size',
    write: ({ file }) => {
      writeFileSync(`${file}.tmp`, 'quite another');
      renameSync(`${file}.tmp`, file);
    },
  },
  {
    what: 'removes and writes anew',
    write: ({ file }) => {
      rmSync(file);
      writeFileSync(file, 'written anew');
    },
  },
];

/** Writers after whom there is none. */
export const SWAPPERS: readonly Writer[] = [
  {
    what: 'removes',
    write: ({ file }) => {
      rmSync(file);
    },
  },
  {
    what: 'puts a FIFO there',
    write: ({ file }) => {
      rmSync(file);
      execFileSync('mkfifo', [file]);
    },
  },
  {
    what: 'puts a directory there',
    write: ({ file }) => {
      rmSync(file);
      mkdirSync(file);
    },
  },
];

/** Writers after whom it depends on `symlinks` what is there. */
export const LINKERS: readonly Writer[] = [
  {
    what: 'puts a link to a sibling there',
    write: ({ file, sibling }) => {
      rmSync(file);
      symlinkSync(sibling, file);
    },
  },
  {
    what: 'puts a link to the outside there',
    write: ({ file, outside }) => {
      rmSync(file);
      symlinkSync(outside, file);
    },
  },
  {
    what: 'puts a link to itself there',
    write: ({ file }) => {
      rmSync(file);
      symlinkSync(file, file);
    },
  },
  {
    what: 'puts a link to a FIFO there',
    write: ({ file, outside }) => {
      rmSync(file);
      rmSync(`${outside}.fifo`, { force: true });
      execFileSync('mkfifo', [`${outside}.fifo`]);
      symlinkSync(`${outside}.fifo`, file);
    },
  },
];
