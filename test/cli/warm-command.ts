import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';

/** A command line, and what its process would be given. */
export interface CommandLine {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** How a command ended, and what it wrote. */
export interface WarmEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Of the process that ran it. */
  readonly pid: number;
}

/** After this many commands a process is replaced: each leaves a module behind. */
const MOST_COMMANDS = 200;

const SERVER = resolve(import.meta.dirname, 'command-server.js');

/** Processes that wait for a command, by the built command that they have loaded. */
const idle = new Map<string, CommandServer[]>();

/**
 * Runs a built command to its end in a process that has run others before. Not for what changes its process for good, or
 * ends by a signal: see `isAlone`. Throws if the command left something open that would keep its process alive.
 */
export async function runWarm(script: string, line: CommandLine): Promise<WarmEnd> {
  const waiting = idle.get(script) ?? [];
  idle.set(script, waiting);
  const server = waiting.pop() ?? new CommandServer(script);
  const ended = await server.run(line);
  if (server.isUsable) waiting.push(server);
  else server.close();
  return ended;
}

/** Returns whether a command needs a process of its own. */
export function isAlone({ args, env }: Pick<CommandLine, 'args' | 'env'>): boolean {
  const isService =
    args.includes('sync') && !args.some((arg) => ['--once', '--dry-run', '--help', '-h'].includes(arg));
  const changesProcess = ['emulator', '--no-color', '--watch', '--open'].some((arg) => args.includes(arg));
  const changesNode = Object.keys(env).some(
    (name) => /^(?:NODE|LD)_/u.test(name) && env[name] !== process.env[name],
  );
  return isService || changesProcess || changesNode;
}

class CommandServer {
  readonly #script: string;
  readonly #child: ChildProcess;
  #output = { stdout: '', stderr: '' };
  #seen: () => void = () => undefined;
  #commands = 0;
  #hasEnded = false;

  constructor(script: string) {
    this.#script = script;
    this.#child = spawn(process.execPath, [SERVER, join(dirname(script), 'start.js')], {
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    // Tests end without waiting for it; it ends when they do.
    this.#child.unref();
    this.#child.channel?.unref();
    for (const name of ['stdin', 'stdout', 'stderr'] as const)
      (this.#child[name] as unknown as { readonly unref: () => void }).unref();
    for (const name of ['stdout', 'stderr'] as const)
      this.#child[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#output[name] += text;
        this.#seen();
      });
    this.#child.once('close', () => {
      this.#hasEnded = true;
      this.#seen();
    });
  }

  get isUsable(): boolean {
    return !this.#hasEnded && this.#commands < MOST_COMMANDS;
  }

  async run({ cwd, args, env }: CommandLine): Promise<WarmEnd> {
    this.#commands += 1;
    this.#output = { stdout: '', stderr: '' };
    const answers: { readonly code: number; readonly open: readonly string[] }[] = [];
    this.#child.once('message', (message) => {
      answers.push(message as { code: number; open: string[] });
      this.#seen();
    });
    const isOver = (): boolean =>
      this.#hasEnded ||
      (answers.length > 0 && Object.values(this.#output).every((text) => text.endsWith('\0')));
    const over = new Promise<void>((fulfil) => {
      this.#seen = () => {
        if (isOver()) fulfil();
      };
    });
    this.#child.send({ script: this.#script, args, cwd, env });
    await over;
    const { code, open } = answers[0] ?? { code: this.#child.exitCode, open: [] };
    if (open.length > 0)
      throw new Error(`botsync ${args.join(' ')} does not end: ${open.join(', ')} still open`);
    const written = (text: string): string => text.replace(/\0$/u, '');
    const { stdout, stderr } = this.#output;
    return { code, stdout: written(stdout), stderr: written(stderr), pid: this.#child.pid ?? 0 };
  }

  close(): void {
    this.#child.disconnect();
  }
}
