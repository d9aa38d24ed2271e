import { basename, relative } from 'node:path';
import { escapeControls } from '../../domain/escape.ts';
import {
  BoundedOutput,
  openNonBlocking,
  writeAll,
  writeSome,
  type StandardDescriptor,
} from './write-descriptor.ts';
import { type Paint, usesColour, inColour, withoutColour } from '../../service/colour.ts';
import { fstatSync } from 'node:fs';
import { createLog, type LogSettings, type StyledLog } from '../../service/logger.ts';
import { servesStandardError, type StandardErrorFacts } from '../../service/systemd-notify.ts';
import type { GlobalOptions } from '../global-options.ts';

/** Limit on bytes that wait for a slow reader; further lines are dropped. */
const MOST_WAITING_BYTES = 1_000_000;

/** Wait at the end for a reader that reads nothing, in milliseconds. */
const LAST_PATIENCE_MS = 1000;

/** Called when a reader does not read. */
export interface GapPorts {
  readonly dropping: () => void;
  /** The reader continues after this many dropped lines. */
  readonly resumed: (droppedLines: number) => void;
}

/** Results that are not written yet: thousands of short lines are faster in one write. */
let waiting: string[] = [];

/** Outputs that never wait for a reader; the others do, as programs in a pipeline should. */
const bounded = new Map<StandardDescriptor, BoundedOutput>();

/** Writes a result to standard output, together with others of the same turn, and before the process ends. */
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

export function writeError(text: string): void {
  write(2, text);
}

/** Escapes control characters of a name. */
export function shown(name: string): string {
  return escapeControls(name);
}

/**
 * Stops waiting for readers: a service must continue and handle signals, even if nobody reads its output. Lines
 * wait up to a bound; further ones are dropped and counted.
 */
export function neverWaitForReaders(ports: Readonly<Record<StandardDescriptor, GapPorts>>): void {
  for (const standard of [1, 2] as const) {
    const fd = openNonBlocking(standard);
    const take = (bytes: Buffer): number | null => writeSome(standard, fd, bytes);
    bounded.set(standard, new BoundedOutput(MOST_WAITING_BYTES, { ...ports[standard], take }));
  }
}

/** Waits for readers that still read. Returns the number of lost results. */
export async function drainOutput(): Promise<number> {
  flush();
  const [results = 0] = await Promise.all([...bounded.values()].map((one) => one.drain(LAST_PATIENCE_MS)));
  return results;
}

/** Returns the command that started this program, for suggested commands. */
export function invocation(): string {
  const script = process.argv[1] ?? '';
  return basename(script) === 'botsync' ? 'botsync' : `node ${relative(process.cwd(), script)}`;
}

function write(standard: StandardDescriptor, text: string): void {
  const output = bounded.get(standard);
  if (output === undefined) writeAll(standard, text);
  else output.write(text);
}

/**
 * Returns one line of JSON. Escapes control characters that JSON allows in texts, which does not change their
 * meaning.
 */
export function jsonLine(value: object): string {
  return shown(JSON.stringify(value));
}

export function printJson(value: object): void {
  print(jsonLine(value));
}

let isForbidden = false;

/** `--no-color`. */
export function forbidColour(): void {
  isForbidden = true;
}

export function paintFor(standard: StandardDescriptor): Paint {
  const { isTTY } = standard === 1 ? process.stdout : process.stderr;
  return usesColour({ env: process.env, isForbidden, isTerminal: isTTY }) ? inColour : withoutColour;
}

type LogOptions = Pick<GlobalOptions, 'logLevel' | 'logFormat'>;

/** The reader of standard error; `pipe` includes files. */
export type LogReader = 'terminal' | 'service-manager' | 'pipe';

export function logReader(): LogReader {
  if (process.stderr.isTTY) return 'terminal';
  const facts: StandardErrorFacts = { env: process.env, pid: process.pid, stat: statOfStandardError() };
  return servesStandardError(facts) ? 'service-manager' : 'pipe';
}

/**
 * Returns the log settings: JSON for a service manager, else text; on a terminal only warnings, since the command
 * shows its progress. Options override this.
 */
export function logSettings({ logLevel, logFormat }: LogOptions, reader: LogReader): LogSettings {
  const format = logFormat === 'auto' ? (reader === 'service-manager' ? 'json' : 'pretty') : logFormat;
  return {
    level: logLevel ?? (reader === 'terminal' && format === 'pretty' ? 'warn' : 'info'),
    format,
    // The user who waits for a command knows the time.
    isTimed: false,
    paint: paintFor(2),
  };
}

export function createCommandLog(options: LogOptions): StyledLog {
  return createLog(logSettings(options, logReader()), writeError);
}

function statOfStandardError(): StandardErrorFacts['stat'] {
  try {
    const { dev, ino } = fstatSync(2, { bigint: true });
    return { dev, ino };
  } catch {
    // Standard error is closed.
    return null;
  }
}
