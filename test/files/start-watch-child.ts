import { execFileSync, spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import { eventually, temporaryDirectory } from './watch-fixture.ts';

/** What the watching process told: one of `ready`, `settled`, `lost`, `limited`, `closed`. */
export type Told = Readonly<Record<string, unknown>>;

/** A process that watches a directory. */
export interface Child {
  readonly told: Told[];
  /** Waits until it has told something of this kind, and returns what. */
  readonly tells: (kind: string) => Promise<unknown>;
  /** Waits until it has told that a path settled. */
  readonly settles: (path: string) => Promise<void>;
  /** Its exit code, and what it wrote to standard error. */
  readonly ended: Promise<{ code: number | null; stderr: string }>;
  /** Ends its input and waits for its end. */
  readonly end: () => Promise<{ code: number | null; stderr: string }>;
}

/**
 * Starts a process that watches a directory.
 *
 * @param wrapper - a command that runs the one that follows it.
 */
export async function startChild(
  root: string,
  { wrapper = [], whatSettledDoes = 'print' }: { wrapper?: string[]; whatSettledDoes?: string } = {},
): Promise<Child> {
  const directory = temporaryDirectory();
  const script = join(directory, 'watch-child.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'watch-child.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  // Whoever it runs as has to be able to read it.
  chmodSync(directory, 0o755);
  const [command, ...args] = [...wrapper, process.execPath, script, root, whatSettledDoes];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const told: Told[] = [];
  let stderr = '';
  createInterface(child.stdout).on('line', (line) => told.push(JSON.parse(line) as Told));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined);
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.once('close', (code) => {
      resolve({ code, stderr });
    }),
  );
  const tells = async (kind: string): Promise<unknown> => {
    await eventually(() => told.some((one) => kind in one), `the child tells ${kind}; it wrote: ${stderr}`);
    return told.find((one) => kind in one)?.[kind];
  };
  const settles = (path: string): Promise<void> =>
    eventually(
      () => told.some(({ settled }) => Array.isArray(settled) && settled.includes(path)),
      `the child tells of ${path}; it told: ${JSON.stringify(told)} ${stderr}`,
    );
  const end = (): Promise<{ code: number | null; stderr: string }> => {
    child.stdin.end();
    return ended;
  };
  return { told, tells, settles, ended, end };
}

/** Whether a command can be run here. */
export function isPossible(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
