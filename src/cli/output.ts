import { writeSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { escapeControls } from '../domain/escape.ts';
import { EXIT } from '../domain/exit-code.ts';

/** Results that were not written yet: thousands of short lines are better written together. */
let waiting: string[] = [];

/** Writes a result to standard output, together with others of the same turn; what is left is written when the process ends. */
export function print(text: string): void {
  if (waiting.length === 0) setImmediate(flush);
  waiting.push(text, '\n');
}

function flush(): void {
  const text = waiting.join('');
  waiting = [];
  if (text !== '') writeWhole(1, text);
}

process.on('exit', flush);

/** Writes a message for people to standard error. */
export function printError(text: string): void {
  writeError(`${text}\n`);
}

/** Writes to standard error as it is. */
export function writeError(text: string): void {
  writeWhole(2, text);
}

/** A name as it can be shown: control characters are escaped. */
export function shown(name: string): string {
  return escapeControls(name);
}

/** Lines of a log as they can be shown: JSON leaves some control characters of names alone. */
export function shownLines(lines: string): string {
  return lines.split('\n').map(escapeControls).join('\n');
}

/** Writes lines of a log to standard error. */
export function writeLog(lines: string): void {
  writeError(shownLines(lines));
}

/** How this program was called, for commands that people are told to run next. */
export function invocation(): string {
  const script = process.argv[1] ?? '';
  return basename(script) === 'botsync' ? 'botsync' : `node ${relative(process.cwd(), script)}`;
}

function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The reader went away (`| head`): nobody is left to tell.
      if (code === 'EPIPE') return;
      if (code === 'ENOSPC' || code === 'EIO' || code === 'EBADF') {
        // A full disk below a redirected output is no reason to end a sync; its exit code tells of lost results.
        if (fd === 1) process.once('exit', () => (process.exitCode ||= EXIT.incomplete));
        return;
      }
      // A pipe that is full, set to non-blocking by whoever shares it: the reader needs a moment.
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
