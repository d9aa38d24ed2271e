import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';

const BINARY = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** Whether this machine can give a command a terminal: `script` of util-linux. */
export const hasTerminal = spawnSync('script', ['--version']).status === 0;

/** What to type once a text has appeared since the last answer. */
export type Dialogue = readonly (readonly [after: string, keys: string])[];

/**
 * Runs the command on a terminal, which closes when the returned process is killed.
 *
 * @param prefix - what runs the command, such as `setsid`.
 */
export function openTerminal(
  cwd: string,
  args: readonly string[],
  env: Record<string, string>,
  prefix: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const words = [...prefix, process.execPath, BINARY, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd,
    env: { ...process.env, TERM: 'xterm', ...env },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** Runs the command on a terminal and answers what it asks. Returns how it ended and all that the terminal showed. */
export function converse(
  cwd: string,
  args: readonly string[],
  env: Record<string, string>,
  dialogue: Dialogue,
  prefix: readonly string[] = [],
): Promise<{ code: number | null; screen: string }> {
  const child = openTerminal(cwd, args, env, prefix);
  let screen = '';
  let seen = 0;
  const left = [...dialogue];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [next] = left;
    if (next === undefined) return;
    const at = screen.indexOf(next[0], seen);
    if (at === -1) return;
    seen = screen.length;
    left.shift();
    child.stdin.write(next[1]);
  });
  return new Promise((fulfil) => {
    child.once('close', (code) => {
      fulfil({ code, screen });
    });
  });
}
