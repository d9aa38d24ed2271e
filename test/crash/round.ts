import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { createSite, run, start, type Ended, type Running, type Site } from '../cli/binary.ts';
import type { Dice } from '../cli/churn.ts';
import { checkRun, differences, FOREIGN_PREFIX } from './checks.ts';
import { isIntentDurable, Ledger, type TraceLine } from './ledger.ts';
import { readRows, RemoteView, type RemoteFile } from './observe.ts';
import type { CrashPoint, OuterPointName } from './points.ts';
import { cutPower, type PowerCut } from './power-cut.ts';
import { RequestWatch, type Arrival } from './request-watch.ts';
import { Tree } from './tree.ts';

const PRELOAD = pathToFileURL(resolve(import.meta.dirname, 'crash-points.js')).href;

/** Whether what was removed in the source goes from the platform. */
export type Mode = 'keep' | 'expire' | 'delete';

/** What is never carried out where a kill comes when it arrives. */
const HANGING: Partial<Record<OuterPointName, string>> = {
  'upsert-arrived': 'upsert',
  'get-arrived': 'get-file',
  'delete-arrived': 'delete-file',
  'list-arrived': 'list-files',
  'update-arrived': 'update-file',
};

/** How a run of the command ended. */
export type RunEnd =
  /** `isAtPoint`: where it was meant to be. */
  | { readonly kind: 'killed'; readonly isAtPoint: boolean; readonly cut: PowerCut | null }
  | { readonly kind: 'ended'; readonly ended: Ended };

/** A run under way: what was there before it. */
interface Begun {
  readonly running: Running;
  readonly before: ReadonlyMap<string, RemoteFile>;
  readonly requestsBefore: number;
  readonly wasInDoubt: ReadonlySet<string>;
  readonly localBefore: ReadonlyMap<string, Buffer>;
  isStruck: boolean;
}

const QUESTIONS = new Set(['list-files', 'update-file']);

/** A site whose command is killed again and again; every run is checked. */
export class CrashRound {
  readonly site: Site;
  readonly tree: Tree;
  readonly #mode: Mode;
  readonly #dice: Dice;
  readonly #watch: RequestWatch;
  readonly #remote: RemoteView;
  readonly #ledger = new Ledger();
  readonly #stateFile: string;
  readonly #traceFile: string;
  readonly #syncedLog: string;
  readonly #checkpointPages: number;

  private constructor(site: Site, mode: Mode, dice: Dice) {
    this.site = site;
    this.tree = new Tree(join(site.directory, 'docs'), dice);
    this.#mode = mode;
    this.#dice = dice;
    this.#remote = new RemoteView(site.emulator);
    this.#stateFile = join(site.directory, '.botsync/state.db');
    this.#traceFile = join(site.directory, 'trace');
    this.#watch = new RequestWatch(
      site.emulator.baseUrl,
      () => statSync(this.#traceFile, { throwIfNoEntry: false })?.size ?? 0,
      (id) => site.emulator.listFiles('bot-1').find((file) => file.id === id)?.key ?? null,
    );
    this.#syncedLog = join(site.directory, 'synced-log');
    // SQLite's own, or so few that the log is begun anew now and then.
    this.#checkpointPages = [1000, 60, 15][dice.roll(3)] ?? 1000;
  }

  /**
   * Makes a site with a source, files of somebody else on the platform, and nothing sent yet. `operations`: what the
   * platform is asked; where files are to be deleted, all that it serves.
   */
  static async create(
    mode: Mode,
    dice: Dice,
    operations: 'auto' | 'specified' = mode === 'delete' ? 'auto' : 'specified',
  ): Promise<CrashRound> {
    const site = await createSite(
      {
        removals: { mode, delay: '1s', maxCount: 1_000_000, maxFraction: 1 },
        upload: { concurrency: 1 + dice.roll(8) },
        watch: { settle: '20ms', maxDelay: '500ms', rescan: '10h' },
      },
      { recordRequests: true },
      operations,
    );
    const round = new CrashRound(site, mode, dice);
    for (const name of ['a.md', 'empty.md']) await round.#plant(name, name.startsWith('empty') ? '' : name);
    await round.#watch.quiet();
    round.#watch.disarm();
    return round;
  }

  /**
   * Runs `sync --once` until it is killed or ends. `hasPower`: false when a kill takes the power with it. `copies`: a
   * directory into which the state file is copied, as it is before every statement that makes its tables and after the last one.
   */
  async once(point: CrashPoint | null, hasPower = true, copies = ''): Promise<RunEnd> {
    const begun = this.#begin(['--once', '--json'], point, copies);
    return await this.#end(begun, await begun.running.ended, hasPower);
  }

  /** Runs the daemon, edits more when it is through its first pass, and kills it at the latest when it has nothing to do. */
  async daemon(point: CrashPoint | null, edit: () => void): Promise<RunEnd> {
    const begun = this.#begin([], point);
    const { child, ended } = begun.running;
    let isOver = false as boolean;
    void ended.then(() => (isOver = true));
    const untilExact = async (): Promise<void> => {
      while (!isOver && this.differences().length > 0) await new Promise((next) => setTimeout(next, 10));
    };
    await untilExact();
    if (!isOver) {
      edit();
      await untilExact();
    }
    child.kill(point === null ? 'SIGTERM' : 'SIGKILL');
    return await this.#end(begun, await ended, true);
  }

  /** How the mirror differs from the source. */
  differences(): readonly string[] {
    return differences({ mode: this.#mode, after: this.#remote.look(), local: this.tree.files });
  }

  /** Runs to the end: the mirror is exact, then nothing is planned, and the next run sends no request. */
  async endsInSync(as: 'once' | 'daemon' = 'once'): Promise<void> {
    const isOk = { kind: 'ended', ended: { code: 0 } };
    const edit = (): void => {
      this.tree.edit();
    };
    expect(as === 'daemon' ? await this.daemon(null, edit) : await this.once(null)).toMatchObject(isOk);
    expect(this.differences()).toEqual([]);
    const { emulator, directory } = this.site;
    if (as === 'daemon') await this.#askOn();
    const sentBefore = emulator.requests.length;
    const plan = await run(directory, ['sync', '--dry-run', '--json']);
    expect(plan.lines()).toMatchObject([{ kind: 'summary', uploaded: 0, renewed: 0, removed: 0, failed: 0 }]);
    expect(await this.once(null)).toMatchObject(isOk);
    expect(emulator.requests.slice(sentBefore)).toEqual([]);
  }

  /** What a daemon sent before its end it may not have asked about: the next run does, and marks it, and nothing else. */
  async #askOn(): Promise<void> {
    const { requests } = this.site.emulator;
    const before = requests.length;
    expect(await this.once(null)).toMatchObject({ kind: 'ended', ended: { code: 0 } });
    const others = requests.slice(before).filter(({ operation }) => !QUESTIONS.has(operation));
    expect(others).toEqual([]);
  }

  /** Replaces fields of the configuration. */
  configure(fields: Record<string, unknown>): void {
    const { directory, write } = this.site;
    const name = 'botsync.config.json';
    const config = JSON.parse(readFileSync(join(directory, name), 'utf8')) as Record<string, unknown>;
    write(name, JSON.stringify({ ...config, ...fields }));
  }

  /** Loses the state file with all that belongs to it. */
  loseState(): void {
    rmSync(join(this.#stateFile, '..'), { recursive: true });
    mkdirSync(join(this.#stateFile, '..'));
    rmSync(this.#syncedLog, { force: true });
  }

  close(): void {
    this.#watch.close();
  }

  #begin(args: readonly string[], point: CrashPoint | null, copies = ''): Begun {
    const { emulator, directory, env } = this.site;
    const before = this.#remote.look();
    const wasInDoubt = new Set(
      [...before.keys(), ...this.tree.files.keys()].filter((key) => this.#ledger.isInDoubt(key)),
    );
    const localBefore = new Map(this.tree.files);
    const requestsBefore = emulator.requests.length;
    const isInner = point?.kind === 'inner';
    const running = start(directory, ['sync', '--log-level', 'warn', ...args], {
      ...env,
      NODE_OPTIONS: `--import=${PRELOAD}`,
      CRASH_TRACE: this.#traceFile,
      CRASH_LOG: `${this.#stateFile}-wal`,
      CRASH_SYNCED_LOG: this.#syncedLog,
      CRASH_CHECKPOINT_PAGES: String(this.#checkpointPages),
      CRASH_COPIES: copies,
      ...(isInner && { CRASH_POINT: point.name, CRASH_COUNT: String(point.count) }),
    });
    const begun: Begun = { running, before, requestsBefore, wasInDoubt, localBefore, isStruck: false };
    const strike = (): void => {
      begun.isStruck = running.child.kill('SIGKILL');
    };
    if (point?.kind === 'outer') {
      this.#watch.arm(point.name, point.count, point.bytes, strike);
      const operation = HANGING[point.name];
      if (operation !== undefined) emulator.faults.add({ operation, kind: 'hang', after: point.count - 1 });
    }
    if (point?.kind === 'moment') {
      const timer = setTimeout(strike, point.afterMs);
      void running.ended.then(() => {
        clearTimeout(timer);
      });
    }
    return begun;
  }

  async #end(begun: Begun, ended: Ended, hasPower: boolean): Promise<RunEnd> {
    const { emulator } = this.site;
    await this.#watch.quiet();
    const arrivals = this.#watch.disarm();
    emulator.faults.clear();
    const trace = this.#takeTrace();
    everyIntentCameFirst(trace, arrivals);
    const lines = linesOf(trace);
    for (const line of lines) this.#ledger.enter(line);
    const isKilled = ended.code === null;
    let cut: PowerCut | null = null;
    if (!isKilled) {
      this.#ledger.enter({ what: 'closed', key: '' });
      rmSync(this.#syncedLog, { force: true });
    } else {
      this.#ledger.enter({ what: 'killed', key: '' });
    }
    if (isKilled && !hasPower) {
      cut = cutPower(this.#stateFile, this.#syncedLog, this.#dice);
      this.#ledger.enter({ what: 'cut', key: '' });
    }
    this.#check(begun, lines);
    if (!isKilled) return { kind: 'ended', ended };
    return { kind: 'killed', isAtPoint: begun.isStruck || lines.at(-1)?.what === 'reached', cut };
  }

  #check({ before, requestsBefore, wasInDoubt, localBefore }: Begun, lines: readonly TraceLine[]): void {
    const local = this.tree.files;
    const edited = new Set(
      [...local.keys(), ...localBefore.keys()].filter((key) => local.get(key) !== localBefore.get(key)),
    );
    const requests = this.site.emulator.requests.slice(requestsBefore);
    const last = new Map(lines.flatMap(({ what, key }) => (key === '' ? [] : [[key, what] as const])));
    checkRun({
      mode: this.#mode,
      before,
      after: this.#remote.look(),
      local,
      edited,
      rows: readRows(this.#stateFile),
      upserts: requests.flatMap(({ operation, key }) => (operation === 'upsert' ? (key ?? []) : [])),
      deletions: requests.flatMap(({ operation, key }) => (operation === 'delete-file' ? (key ?? []) : [])),
      wasInDoubt,
      settled: new Set([...last].flatMap(([key, what]) => (what === 'intent' ? [] : [key]))),
      ledger: this.#ledger,
    });
  }

  #takeTrace(): Buffer {
    if (!existsSync(this.#traceFile)) return Buffer.alloc(0);
    const trace = readFileSync(this.#traceFile);
    rmSync(this.#traceFile);
    return trace;
  }

  async #plant(name: string, content: string): Promise<void> {
    const { baseUrl, token } = this.site.emulator;
    const upserted = await fetch(`${baseUrl}/v1/files`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        'x-bot-id': 'bot-1',
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify({ key: FOREIGN_PREFIX + name, size: content.length, contentType: 'text/plain' }),
    });
    const { file } = (await upserted.json()) as { file: { uploadUrl: string } };
    const uploaded = await fetch(file.uploadUrl, {
      method: 'PUT',
      headers: { 'content-type': 'text/plain', connection: 'close' },
      body: content,
    });
    if (!uploaded.ok) throw new Error(`could not be planted: ${await uploaded.text()}`);
  }
}

/** Whether or not a kill comes in between: at the moment an upsert or a deletion arrives, its intent is on disk. */
function everyIntentCameFirst(trace: Buffer, arrivals: readonly Arrival[]): void {
  for (const { key, at } of arrivals) {
    if (!isIntentDurable(linesOf(trace.subarray(0, at)), key))
      throw new Error(`an upsert or a deletion came before its intent was on disk: ${key}`);
  }
}

function linesOf(trace: Buffer): TraceLine[] {
  // Killed in the middle of a line, it is not whole.
  const whole = trace
    .subarray(0, trace.lastIndexOf('\n') + 1)
    .toString('utf8')
    .trimEnd();
  return whole === '' ? [] : whole.split('\n').map((line) => JSON.parse(line) as TraceLine);
}
