import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig, type ConfigResult, type LoadedConfig } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

/** A directory that goes when the test ends. */
export function temporaryDirectory(): string {
  return makeTemporaryDirectory('config');
}

/** A file with a content in a directory of its own; its path. */
export function temporaryFile(name: string, content: string | Buffer, mode = 0o600): string {
  const file = join(temporaryDirectory(), name);
  writeFileSync(file, content, { mode });
  return file;
}

/** A configuration text from the smallest valid one and the top-level fields that a test is about. */
export function configText(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ platform: { botId: 'bot-1' }, sources: [{ directory: './docs' }], ...fields });
}

/** The problems or warnings of a text, each as one line without the file's name. `machine`: the host name that it has. */
export function linesOf(text: string, machine?: string): { problems: string[]; warnings: string[] } {
  const result = parseConfig(text, '/etc/botsync/c.json', machine);
  const render = (list: Parameters<typeof renderProblem>[0][]): string[] =>
    list.map((one) => renderProblem({ ...one, file: 'c' }));
  return result.kind === 'ok'
    ? { problems: [], warnings: render([...result.warnings]) }
    : { problems: render([...result.problems]), warnings: [] };
}

/** The loaded configuration; fails the test where it is invalid. */
export function expectOk(result: ConfigResult): LoadedConfig {
  if (result.kind === 'ok') return result;
  throw new Error(result.problems.map(renderProblem).join('\n'));
}

/** The loaded configuration that a text gives at `/etc/botsync/c.json`. `machine`: the host name that it has. */
export function load(fields: Readonly<Record<string, unknown>>, machine?: string): LoadedConfig {
  return expectOk(parseConfig(configText(fields), '/etc/botsync/c.json', machine));
}

/** A FIFO that nobody writes to. */
export function temporaryFifo(): string {
  const path = join(temporaryDirectory(), 'fifo');
  execFileSync('mkfifo', ['-m', '600', path]);
  return path;
}
