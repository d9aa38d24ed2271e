import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { askDaemon } from '../../src/service/daemon-socket.ts';
import { BINARY } from '../cli/binary.ts';
import { isAlone, runWarm } from '../cli/warm-command.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { Placeholders } from './placeholders.ts';

/** The clone that is tested. */
export const ROOT = resolve(import.meta.dirname, '../..');

/** One pass, as JSON Lines. */
export const ONCE = ['sync', '--once', '--json'];
/** What one pass would do, as JSON Lines. */
export const DRY = ['sync', '--dry-run', '--json'];

/** Another build to hold against the recordings. */
const binary = process.env['BOTSYNC_RECORDED_BINARY'] ?? BINARY;

/** Whether what is seen becomes the recording, in place of being compared with it. */
const isRecording = process.env['BOTSYNC_RECORD'] === '1';

/** How long is waited for what a command is to do, milliseconds: the limit is reached only when a test fails. */
const POLL = { timeout: 20_000, interval: 10 };

/** What a command may be given beside its arguments. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input?: string;
}

/** A command under way; what it says is recorded when it has ended. */
export interface RecordedCommand {
  readonly child: ChildProcess;
  /** Waits until it has written this, to either stream. */
  readonly says: (text: string) => Promise<void>;
  /** What it wrote to standard output so far. */
  readonly output: () => string;
  /** Waits for its end. */
  readonly ended: () => Promise<void>;
}

/** A directory, an emulator that plays the real platform, and commands whose every word is recorded. */
export class Scene {
  readonly directory: string;
  readonly emulator: Emulator;
  readonly #placeholders = new Placeholders();
  readonly #beganMs = Date.now();
  readonly #pids = [process.pid];
  readonly #known: [string, string][] = [];
  readonly #parts: string[] = [];

  constructor(directory: string, emulator: Emulator) {
    this.directory = directory;
    this.emulator = emulator;
  }

  /** Everything that was recorded so far. */
  get text(): string {
    return this.#parts.join('\n');
  }

  /** Writes a file of the scene. */
  write(path: string, content: string | Buffer): void {
    const file = join(this.directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, 0o644);
  }

  /** Writes so many files to `docs/`, with names that sort as they are counted. */
  fill(count: number): void {
    for (let n = 0; n < count; n++) this.write(`docs/${String(n).padStart(2, '0')}.md`, `file ${n}`);
  }

  /** Writes the configuration: one source, `docs/`, one file after the other, and what is given here. */
  configure(fields: Record<string, unknown> = {}, platform: Record<string, unknown> = {}): void {
    const { baseUrl, chatUrl, workspaceId, webhookId } = this.emulator;
    const { upload, ...others } = fields;
    const config = {
      platform: {
        ...{ baseUrl, chatUrl, workspaceId, botId: 'bot-1', token: 'env:BOTSYNC_TOKEN' },
        // What became of files is asked in a scene of its own.
        operations: 'specified',
        chat: { webhookId, userKey: 'env:BOTSYNC_USER_KEY' },
        ...platform,
      },
      sources: [{ directory: './docs' }],
      upload: { concurrency: 1, attempts: 2, ...(upload as object | undefined) },
      ...others,
    };
    // Nobody who watches the configuration sees half of it.
    this.write('botsync.config.json.new', JSON.stringify(config, null, 2));
    renameSync(join(this.directory, 'botsync.config.json.new'), join(this.directory, 'botsync.config.json'));
  }

  /** Says in the recording what happens between two commands. */
  note(what: string): void {
    this.#parts.push(this.#recorded(`# ${what}\n`));
  }

  /** From now on a text that differs each time is recorded by this name. */
  know(text: string, name: string): void {
    this.#known.push([text, name]);
  }

  /** Runs a command, recorded, to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<void> {
    const line = { cwd: this.directory, args, env: this.#environment(options.env) };
    if (options.input !== undefined || isAlone(line)) {
      await this.start(args, options).ended();
      return;
    }
    const { code, stdout, stderr, pid } = await runWarm(binary, line);
    this.#pids.push(pid);
    this.#record(args, options, { code, stdout, stderr });
  }

  /** Starts a command that is recorded. */
  start(args: readonly string[], options: RunOptions = {}): RecordedCommand {
    const child = this.#spawn(args, options.env);
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin?.end(options.input);
    const closed = new Promise<number | null>((fulfil) => {
      child.once('close', fulfil);
    });
    return {
      child,
      output: () => stdout,
      says: (text) => expect.poll(() => stdout + stderr, POLL).toContain(text),
      ended: async () => {
        const code = await closed;
        this.#record(args, options, { code, stdout, stderr });
      },
    };
  }

  /** Waits until every fault of the emulator has struck. */
  hasStruck(): Promise<void> {
    return expect.poll(() => this.emulator.faults.pending().length, POLL).toBe(0);
  }

  /** Waits until the daemon has nothing left to do; it says so when asked, which is not recorded. */
  isWatching(): Promise<void> {
    const stateFile = join(this.directory, '.botsync/state.db');
    const ask = async (): Promise<unknown> => {
      const answer = await askDaemon(stateFile, 'GET', '/status', AbortSignal.timeout(POLL.timeout));
      return answer.kind === 'ok' ? (JSON.parse(answer.body) as { daemon: unknown }).daemon : answer;
    };
    return expect.poll(ask, POLL).toMatchObject({ activity: 'watching', queued: 0, sending: 0 });
  }

  #spawn(args: readonly string[], env: RunOptions['env']): ChildProcess {
    if (!existsSync(binary)) throw new Error('there is no built command to test: npm run build');
    const child = spawn(process.execPath, [binary, ...args], {
      cwd: this.directory,
      env: this.#environment(env),
    });
    if (child.pid !== undefined) this.#pids.push(child.pid);
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return child;
  }

  #environment(env: RunOptions['env'] = {}): NodeJS.ProcessEnv {
    const coverage = process.env['NODE_V8_COVERAGE'];
    return {
      ...(coverage !== undefined && { NODE_V8_COVERAGE: coverage }),
      ...{ PATH: process.env['PATH'] ?? '', HOME: this.directory, LANG: 'C.UTF-8', TZ: 'UTC' },
      ...{ BOTSYNC_TOKEN: this.emulator.token, BOTSYNC_USER_KEY: this.emulator.userKey, NO_COLOR: '1' },
      ...env,
    };
  }

  #record(
    args: readonly string[],
    { env = {}, input }: RunOptions,
    {
      code,
      stdout,
      stderr,
    }: { readonly code: number | null; readonly stdout: string; readonly stderr: string },
  ): void {
    const given = Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)} `);
    const fed = input === undefined ? '' : ` <<< ${JSON.stringify(input)}`;
    const command = `$ ${given.join('')}botsync ${args.map(quote).join(' ')}${fed}`;
    const streams = `${told('stdout', stdout)}${told('stderr', stderr)}`;
    this.#parts.push(this.#recorded(`${command}\n${streams}exit code ${code ?? 'none'}\n`));
  }

  #recorded(text: string): string {
    const { baseUrl, webhookId, token, userKey } = this.emulator;
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    return this.#placeholders.apply(text, {
      texts: [
        [this.directory, 'directory'],
        [ROOT, 'root'],
        [relative(this.directory, binary), 'botsync'],
        [process.execPath, 'node'],
        [baseUrl, 'platform'],
        [new URL(baseUrl).host, 'platform host'],
        [webhookId, 'webhook'],
        [userKey, 'USER KEY'],
        [token, 'TOKEN'],
        [`botsync ${version}`, 'botsync and version'],
        ...this.#known,
      ],
      pids: this.#pids,
      hostname: hostname(),
      fromMs: this.#beganMs,
      toMs: Date.now(),
    });
  }
}

function quote(arg: string): string {
  return /^[\w./@=:,+-]+$/u.test(arg) ? arg : `'${arg}'`;
}

/** What a command wrote to a stream; nothing is said of nothing. */
function told(stream: string, text: string): string {
  if (text === '') return '';
  const lines = text.endsWith('\n') ? text : `${text}\n(no newline at the end)\n`;
  return `--- ${stream}\n${lines}`;
}

/**
 * A test that plays a scene and compares all that its commands said, and how they ended, with `recordings/NAME.txt`.
 * With BOTSYNC_RECORD=1 that file is written instead.
 */
export function recorded(
  name: string,
  play: (scene: Scene) => Promise<void>,
  options: Partial<EmulatorOptions> = {},
): void {
  test(name, async () => {
    const directory = makeTemporaryDirectory('recorded');
    const emulator = await startEmulator({
      dataDir: join(directory, 'platform'),
      bots: [{ id: 'bot-1', name: 'Velo rentals' }],
      workspaceId: 'wkspace_recorded',
      ...options,
    });
    onTestFinished(() => emulator.close());
    const scene = new Scene(directory, emulator);
    scene.configure();
    mkdirSync(join(directory, 'docs'));
    await play(scene);
    const file = join(import.meta.dirname, 'recordings', `${name.replaceAll(/\W+/gu, '-')}.txt`);
    if (isRecording) writeFileSync(file, scene.text);
    const before = existsSync(file)
      ? readFileSync(file, 'utf8')
      : 'no recording: see BOTSYNC_RECORD in scene.ts';
    expect(scene.text).toBe(before);
  });
}
