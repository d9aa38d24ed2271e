import { basename, relative } from 'node:path';
import { escapeControls } from '../../domain/escape.ts';
import { BoundedOutput } from '../../service/bounded-output.ts';
import { openNonBlocking, writeAll, writeSome, type StandardDescriptor } from './write-descriptor.ts';

/** So much waits for a reader that does not read, bytes; lines beyond that are dropped. */
const MOST_WAITING_BYTES = 1_000_000;

/** A reader that reads nothing for so long is not waited for at the end, milliseconds. */
const LAST_PATIENCE_MS = 1000;

/** What is done about a reader that does not read. */
export interface GapPorts {
  /** Lines are dropped from now on. */
  readonly dropping: () => void;
  /** The reader is back, after so many lines that it will never get. */
  readonly resumed: (droppedLines: number) => void;
}

/** Results that were not written yet: thousands of short lines are better written together. */
let waiting: string[] = [];

/** What never waits for its reader; a descriptor that is not in it does, as programs in a pipeline should. */
const bounded = new Map<StandardDescriptor, BoundedOutput>();

/** Writes a result to standard output, together with others of the same turn; what is left is written when the process ends. */
export function print(text: string): void {
  if (waiting.length === 0) setImmediate(flush);
  waiting.push(text, '\n');
}

function flush(): void {
  const text = waiting.join('');
  waiting = [];
  if (text !== '') write(1, text);
}

process.on('exit', () => {
  flush();
  for (const output of bounded.values()) output.pump();
});

/** Writes a message for people to standard error. */
export function printError(text: string): void {
  writeError(`${text}\n`);
}

/** Writes to standard error as it is. */
export function writeError(text: string): void {
  write(2, text);
}

/** A name as it can be shown: control characters are escaped. */
export function shown(name: string): string {
  return escapeControls(name);
}

/**
 * From now on no reader is waited for: a service has to go on, and to hear signals, whatever becomes of those who read
 * what it writes. Lines wait for them up to a bound, and are dropped and counted beyond it.
 */
export function neverWaitForReaders(ports: Readonly<Record<StandardDescriptor, GapPorts>>): void {
  for (const standard of [1, 2] as const) {
    const fd = openNonBlocking(standard);
    const take = (bytes: Buffer): number | null => writeSome(standard, fd, bytes);
    bounded.set(standard, new BoundedOutput(MOST_WAITING_BYTES, { ...ports[standard], take }));
  }
}

/** Waits for readers that go on reading. Returns how many results will never be read. */
export async function drainOutput(): Promise<number> {
  flush();
  const [results = 0] = await Promise.all([...bounded.values()].map((one) => one.drain(LAST_PATIENCE_MS)));
  return results;
}

/** How this program was called, for commands that people are told to run next. */
export function invocation(): string {
  const script = process.argv[1] ?? '';
  return basename(script) === 'botsync' ? 'botsync' : `node ${relative(process.cwd(), script)}`;
}

function write(standard: StandardDescriptor, text: string): void {
  const output = bounded.get(standard);
  if (output === undefined) writeAll(standard, text);
  else output.write(text);
}
