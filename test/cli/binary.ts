import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { isAlone, runWarm } from './warm-command.ts';

/** The built command: `npm test` and `npm run test:all` build before they test. */
export const BINARY = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** How a command ended. */
export interface Ended {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of standard output as JSON. */
  readonly lines: () => Record<string, unknown>[];
}

/** A command under way. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Starts the command in a directory, in a process of its own. */
export function start(cwd: string, args: readonly string[], env: Record<string, string> = {}): Running {
  requireBuild();
  const child = spawn(process.execPath, [BINARY, ...args], { cwd, env: environment(env) });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((fulfil) => {
    child.once('close', (code) => {
      fulfil(endedWith(code, stdout, stderr));
    });
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { child, ended };
}

function requireBuild(): void {
  if (!existsSync(BINARY)) throw new Error('there is no built command to test: npm run build');
}

function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const inherited: NodeJS.ProcessEnv = { ...process.env };
  delete inherited['BOTSYNC_CONFIG'];
  delete inherited['BOTSYNC_TOKEN'];
  return { ...inherited, NO_COLOR: '1', ...env };
}

/** Runs the command to its end, in a process that others have been run in where that makes no difference. */
export async function run(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  if (isAlone({ args, env })) return await start(cwd, args, env).ended;
  requireBuild();
  const { code, stdout, stderr } = await runWarm(BINARY, { cwd, args, env: environment(env) });
  return endedWith(code, stdout, stderr);
}

/** Runs the command on one command line after another. */
export async function runLines(
  cwd: string,
  lines: readonly (readonly string[])[],
  env: Record<string, string> = {},
): Promise<Ended[]> {
  const all: Ended[] = [];
  for (const args of lines) all.push(await run(cwd, args, env));
  return all;
}

function endedWith(code: number | null, stdout: string, stderr: string): Ended {
  const lines = (): Record<string, unknown>[] =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, stdout, stderr, lines };
}

/** A directory with a config for an emulator that plays the real platform. */
export interface Site {
  readonly directory: string;
  readonly emulator: Emulator;
  /** The environment that holds the token. */
  readonly env: Record<string, string>;
  readonly write: (path: string, content: string | Buffer) => void;
  readonly sync: (...args: string[]) => Promise<Ended>;
}

/** A new temporary directory that goes with the test. */
export function temporaryDirectory(): string {
  return makeTemporaryDirectory('cli');
}

/**
 * Makes a site with one source, `docs/`.
 *
 * @param operations - what the platform is asked: by default nothing that tests have to wait for.
 */
export async function createSite(
  fields: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
  operations: 'auto' | 'specified' = 'specified',
): Promise<Site> {
  const directory = temporaryDirectory();
  const emulator = await startEmulator({
    dataDir: join(directory, 'platform'),
    bots: [{ id: 'bot-1', name: 'One' }],
    ...options,
  });
  onTestFinished(() => emulator.close());
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  };
  mkdirSync(join(directory, 'docs'));
  const config = {
    platform: { botId: 'bot-1', baseUrl: emulator.baseUrl, token: 'env:BOTSYNC_TOKEN', operations },
    sources: [{ directory: './docs' }],
    ...fields,
  };
  write('botsync.config.json', JSON.stringify(config));
  const env = { BOTSYNC_TOKEN: emulator.token };
  return {
    directory,
    emulator,
    env,
    write,
    sync: (...args) => run(directory, ['sync', '--once', '--json', ...args], env),
  };
}
