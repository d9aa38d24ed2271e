import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BINARY } from './binary.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/TUTORIAL.md'), 'utf8');

/** The programs of blocks that are not run: they install, or need an account or systemd. */
const NOT_RUN = /^(?:npm|cp|systemctl|journalctl|export|botsync (?:init|doctor|sync)) ?/u;

/** Commands that change nothing. */
const ASKS = /^(?:botsync status|curl) /u;

/** A command, and what the page says that it prints. */
interface Command {
  readonly kind: 'command';
  readonly line: string;
  readonly output: string;
}

type Step =
  | Command
  | { readonly kind: 'second-terminal' | 'not-run'; readonly lines: readonly string[] }
  /** A line of the configuration that the reader adds. */
  | { readonly kind: 'setting'; readonly line: string };

function stepsOf(text: string): Step[] {
  const blocks = text.matchAll(/(?:^<!-- ([a-z ]+)[^>]*-->\n\n)?^```(console|jsonc|\w*)\n(.*?)^```$/gmsu);
  return [...blocks].flatMap(([, mark, language, block = '']): Step[] => {
    if (language === 'jsonc') return [{ kind: 'setting', line: block.trim() }];
    if (language !== 'console') throw new Error(`a block that no reader can follow: ${block}`);
    const commands = block
      .split(/^\$ /mu)
      .slice(1)
      .map((command): Command => {
        const [line = '', ...output] = command.split('\n');
        return { kind: 'command', line, output: output.join('\n').trim() };
      });
    const lines = commands.map(({ line }) => line);
    if (mark === undefined) return commands;
    if (mark.trim() === 'second terminal') return [{ kind: 'second-terminal', lines }];
    if (mark.startsWith('not run')) return [{ kind: 'not-run', lines }];
    throw new Error(`a mark that the test does not know: ${mark}`);
  });
}

/** `…` is anything, also several lines where it is a line of its own. */
function asPattern(output: string): RegExp {
  const escaped = output.replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
  return new RegExp(`^${escaped.replaceAll(/^…$/gmu, '[^]*?').replaceAll('…', '.*')}$`, 'u');
}

/** A shell that keeps its directory from one command to the next, as a reader's does. */
function openShell(cwd: string, env: NodeJS.ProcessEnv): (line: string) => Promise<string> {
  const shell = spawn('bash', { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    shell.kill('SIGKILL');
  });
  let printed = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  return async (line) => {
    printed = '';
    shell.stdin.write(`{ ${line}; } </dev/null 2>&1; echo; echo ENDED\n`);
    while (!printed.endsWith('\nENDED\n')) await once(shell.stdout, 'data');
    return printed.slice(0, -'\nENDED\n'.length).trim();
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function addSetting(file: string, line: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\}\s*$/u, `  ${line}\n}\n`));
}

test('the commands of docs/TUTORIAL.md print what the page says', { timeout: 180_000 }, async () => {
  const directory = makeTemporaryDirectory('tutorial');
  mkdirSync(join(directory, 'bin'));
  symlinkSync(BINARY, join(directory, 'bin/botsync'));
  const path = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', PATH: path };
  delete env['BOTSYNC_TOKEN'];
  delete env['BOTSYNC_CONFIG'];
  const type = openShell(directory, env);
  const port = String(await findFreePort());
  for (const step of stepsOf(page.replaceAll('9464', port)))
    switch (step.kind) {
      case 'command':
        // The service needs a moment for what was just done: who asks too early asks again.
        if (ASKS.test(step.line))
          await expect
            .poll(() => type(step.line), { message: step.line, interval: 300, timeout: 30_000 })
            .toMatch(asPattern(step.output));
        else expect(await type(step.line), step.line).toMatch(asPattern(step.output));
        break;
      case 'second-terminal': {
        const cwd = await type('pwd');
        const service = spawn('bash', ['-c', step.lines.join('\n')], { cwd, env, stdio: 'ignore' });
        onTestFinished(async () => {
          const ended = once(service, 'exit');
          service.kill('SIGINT');
          expect((await ended)[0]).toBe(0);
        });
        break;
      }
      case 'setting':
        addSetting(join(await type('pwd'), 'botsync.config.json'), step.line);
        break;
      case 'not-run':
        for (const line of step.lines) expect(line).toMatch(NOT_RUN);
        break;
    }
});

test('only the installation, a real bot and systemd are not run', () => {
  const steps = stepsOf(page);
  expect(steps.filter(({ kind }) => kind === 'not-run')).toHaveLength(3);
  expect(steps.filter(({ kind }) => kind === 'command').length).toBeGreaterThan(20);
});
