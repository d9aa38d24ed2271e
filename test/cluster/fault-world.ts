import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Running } from '../cli/binary.ts';
import type { Dice } from '../cli/churn.ts';
import { startBlackHole, type BlackHole } from './black-hole.ts';
import { coverWithNothing, unmount } from '../mounts.ts';
import { createHosts, LEASE_MS, type Host, type HostOptions, type Hosts } from './hosts.ts';
import type { PostgresServer } from './postgres.ts';
import { faultsOf } from './testimony-checks.ts';
import { Witness, type Testimony } from './witness.ts';

/** How long is waited for what hosts are to do, milliseconds: reached only when a test fails. */
export const PATIENCE = { timeout: 40_000, interval: 25 };

/** Removals wait for a minute where a hint was lost, which said that what an earlier one said is out of date, milliseconds. */
const LONG_PATIENCE_MS = 100_000;

/** A host that can be killed, stopped and cut off. */
export interface FaultyHost {
  readonly name: string;
  readonly host: Host;
  /** Its way to the database, and to the platform with its store. */
  readonly database: BlackHole;
  readonly platform: BlackHole;
  /** Where it has the share. */
  readonly mountPoint: string;
  running: Running;
  /** Its log so far. */
  log: string;
  isStopped: boolean;
}

/** What of a configuration is changed. */
interface WrittenConfig {
  readonly sources: readonly object[];
  readonly removals: object;
}

/** What a world is made with. */
export interface FaultWorldOptions {
  readonly hosts?: number;
  readonly leaseMs?: number;
  readonly cluster?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
}

/** Several hosts on one share, whose ways can be cut, and everything they do witnessed. */
export class FaultWorld {
  readonly server: PostgresServer;
  readonly hosts: Hosts;
  readonly all: readonly FaultyHost[];
  readonly witness: Witness;
  readonly #leaseMs: number;
  #contents = 0;
  #prefixes = 0;
  #keyPrefix = '';
  /** Keys of files that were deleted where nothing is removed. */
  readonly #kept = new Set<string>();
  /** Keys of kept files that were written since: if that was noticed before they were deleted again they are not kept any more. */
  readonly #perhapsKept = new Set<string>();
  /** Files that nobody touches, with the ids that they have on the platform. */
  readonly #still = new Map<string, string>();

  private constructor(
    server: PostgresServer,
    hosts: Hosts,
    all: readonly FaultyHost[],
    witness: Witness,
    leaseMs: number,
  ) {
    this.server = server;
    this.hosts = hosts;
    this.all = all;
    this.witness = witness;
    this.#leaseMs = leaseMs;
  }

  /** Starts the hosts, and waits until one of them holds the unit. */
  static async create(server: PostgresServer, options: FaultWorldOptions = {}): Promise<FaultWorld> {
    const hosts = await createHosts(server, { recordRequests: false });
    const witness = await Witness.begin(server, hosts);
    const names = Array.from({ length: options.hosts ?? 2 }, (_, i) => `web${i + 1}`);
    const all: FaultyHost[] = [];
    for (const name of names) all.push(await launch(server, hosts, witness, name, options));
    const world = new FaultWorld(server, hosts, all, witness, options.leaseMs ?? LEASE_MS);
    await expect.poll(() => hosts.holder(), PATIENCE).not.toBeNull();
    return world;
  }

  /** The host that holds the unit; waits until there is one. */
  async holder(): Promise<FaultyHost> {
    await expect.poll(() => this.hosts.holder().catch(() => null), PATIENCE).not.toBeNull();
    const name = await this.hosts.holder();
    return this.all.find((one) => one.name === name) ?? this.holder();
  }

  /** Waits until another host than this one holds the unit. */
  async takenFrom({ name }: FaultyHost): Promise<void> {
    const holder = (): Promise<string | null> => this.hosts.holder().catch(() => null);
    const taken = expect.poll(async () => [null, name].includes(await holder()), PATIENCE).toBe(false);
    await taken.catch((error: unknown) => {
      const running = this.all.map((one) => `${one.name}: exit code ${one.running.child.exitCode}`);
      throw new Error(`nobody took the unit: ${running.join(', ')}\n${this.story()}`, { cause: error });
    });
  }

  /** Has the holder let go of the unit. */
  async move(): Promise<void> {
    await this.hosts.sql(
      `INSERT INTO botsync.wish (unit, kind, body) SELECT id, 'release', json_build_object('epoch', epoch) FROM botsync.unit`,
    );
  }

  /** Leaves an empty directory, or nothing, in the place of the share. */
  unmount({ mountPoint }: FaultyHost, isLost: boolean): void {
    rmSync(mountPoint, { recursive: true, force: true });
    if (!isLost) mkdirSync(mountPoint);
  }

  /** Has the share appear at its mount point, at once and whole. */
  mount({ mountPoint }: FaultyHost): void {
    const link = `${mountPoint}.new`;
    symlinkSync(join(this.hosts.share, 'docs'), link);
    rmSync(mountPoint, { recursive: true, force: true });
    renameSync(link, mountPoint);
  }

  /** Writes files that nobody touches from then on. */
  writeStillFiles(): void {
    for (let file = 0; file < 12; file += 1) this.write(`still/f${file}.md`);
  }

  /**
   * Mounts an empty file system over the files that nobody touches; where that is not allowed an empty mount point takes the place of
   * one host's share. Returns what takes it away.
   */
  coverStillFiles(): () => void {
    const directory = join(this.hosts.share, 'docs', 'still');
    if (coverWithNothing(directory))
      return () => {
        unmount(directory);
      };
    const [one] = this.all as [FaultyHost, ...FaultyHost[]];
    this.unmount(one, false);
    return () => {
      this.mount(one);
    };
  }

  /** Has the files removed from the platform that were kept there, as far as the ledger knows of them. */
  async prune({ host }: FaultyHost): Promise<void> {
    await this.settle({ isForgetful: true });
    // What was kept may go from now on, and what was not must stay.
    for (const key of this.#kept) this.#perhapsKept.add(key);
    this.#kept.clear();
    const prune = async (): Promise<number | null> => (await host.run('prune', '--kept', '--yes')).code;
    await expect.poll(prune, { ...PATIENCE, interval: 500 }).toBe(0);
  }

  /** Gives all sources of all hosts a prefix that none had before, host by host, and approves what halts for that. */
  async changePrefix(dice: Dice): Promise<void> {
    this.#prefixes += 1;
    const keyPrefix = `p${this.#prefixes}/`;
    this.#still.clear();
    await this.#rollOut(dice, ({ sources, ...config }) => ({
      ...config,
      sources: sources.map((source) => ({ ...source, keyPrefix })),
    }));
    this.#keyPrefix = keyPrefix;
    const approve = async (): Promise<string[]> => {
      await this.all[0]?.host.run('approve', 'docs', '--yes');
      return this.differences();
    };
    const approved = expect.poll(approve, { timeout: LONG_PATIENCE_MS, interval: 500 }).toEqual([]);
    await approved.catch((error: unknown) => {
      const different = this.differences().slice(0, 5).join('; ');
      const words = `the files did not get the prefix ${keyPrefix}: ${different}`;
      throw new Error(`${words}\n${this.story()}`, { cause: error });
    });
  }

  /** Has nothing removed for a while, in which files are deleted, and has all removed again that is deleted later. */
  async keepForAWhile(dice: Dice): Promise<void> {
    await this.settle();
    const setMode = (mode: string): Promise<void> =>
      this.#rollOut(dice, (config) => ({ ...config, removals: { ...config.removals, mode } }));
    await setMode('keep');
    const paths = [...this.#localFiles().keys()].filter((key) => !key.includes('still/'));
    const deleted = paths.filter(() => dice.roll(4) === 0).slice(0, 8);
    for (const key of deleted) {
      this.remove(key.slice(this.#keyPrefix.length));
      this.#kept.add(key);
    }
    const noticed = async (): Promise<number> => {
      const rows = await this.hosts
        .sql(`SELECT body ->> 'key' AS key FROM botsync.file WHERE body ->> 'absence' IS NOT NULL`)
        .catch(() => []);
      const keys = new Set(rows.map(({ key }) => key));
      return deleted.filter((key) => keys.has(key)).length;
    };
    await expect.poll(noticed, PATIENCE).toBe(deleted.length);
    await setMode('delete');
  }

  /** Changes the configuration of all hosts, one by one in any order: some are restarted, others reloaded. */
  async #rollOut(dice: Dice, change: (config: WrittenConfig) => WrittenConfig): Promise<void> {
    const order = [...this.all].map((one) => ({ one, at: dice.roll(1000) })).sort((a, b) => a.at - b.at);
    for (const { one } of order) {
      const file = join(one.host.directory, 'botsync.json');
      const config = JSON.parse(readFileSync(file, 'utf8')) as WrittenConfig;
      if (dice.roll(2) === 0) {
        one.running.child.kill(dice.roll(2) === 0 ? 'SIGTERM' : 'SIGKILL');
        await one.running.ended;
        writeFileSync(file, JSON.stringify(change(config)));
        this.restart(one);
      } else {
        writeFileSync(file, JSON.stringify(change(config)));
        // It may have noticed by itself, or be about to start.
        await expect.poll(async () => (await one.host.run('reload')).code, PATIENCE).toBe(0);
      }
      await outOfOrder(dice.roll(500));
    }
  }

  /** Writes a file that no file had the length of before. Gives what it holds. */
  write(path: string, leastBytes = 100): string {
    this.#contents += 1;
    const content = `${this.#contents} `.padEnd(leastBytes + this.#contents, `${this.#contents} `);
    this.hosts.write(`docs/${path}`, content);
    const key = `${this.#keyPrefix}${path}`;
    if (this.#kept.delete(key)) this.#perhapsKept.add(key);
    return content;
  }

  /** Removes a file. */
  remove(path: string): void {
    rmSync(join(this.hosts.share, 'docs', path), { force: true });
  }

  /** Writes or removes some files; a few are long. */
  churn(dice: Dice, steps: number): void {
    for (let step = 0; step < steps; step += 1) {
      const path = `d${dice.roll(4)}/f${dice.roll(30)}.md`;
      const what = dice.roll(10);
      if (what === 0) this.remove(path);
      else this.write(path, what === 1 ? 300_000 : 100);
    }
  }

  /** What the share has, and what the platform has otherwise. */
  differences(): string[] {
    const { emulator } = this.hosts;
    const local = this.#localFiles();
    const remote = new Set(emulator.listFiles('bot-1').map(({ key }) => key));
    const lost = [...this.#kept].filter((key) => !remote.delete(key)).map((key) => `${key} was kept`);
    const wrong = [...local].flatMap(([key, file]) => {
      remote.delete(key);
      const held = emulator.readContent('bot-1', key);
      if (held === null) return [`${key} is missing`];
      return held.equals(readFileSync(file)) ? [] : [`${key} has another content`];
    });
    const removed = [...remote].filter((key) => !this.#perhapsKept.has(key));
    return [...wrong, ...lost, ...removed.map((key) => `${key} was removed here`)];
  }

  /**
   * Large contents get their marks after they were sent. Of one that the database forgot nothing shows whose it is: if it was deleted
   * meanwhile it stays, like somebody else's file.
   */
  #noteUnmarked(): void {
    for (const { key, metadata } of this.hosts.emulator.listFiles('bot-1'))
      if (metadata['botsync'] === undefined) this.#perhapsKept.add(key);
  }

  /** The files of the share by their keys. */
  #localFiles(): Map<string, string> {
    const files = filesIn(join(this.hosts.share, 'docs'));
    return new Map([...files].map(([path, file]) => [`${this.#keyPrefix}${path}`, file]));
  }

  /** Files that nobody touched and that have other ids than before: they were removed, and sent again. */
  #removedMeanwhile(): string[] {
    const files = this.hosts.emulator.listFiles('bot-1').filter(({ key }) => key.includes('still/'));
    return files.flatMap(({ key, id }) => {
      const before = this.#still.get(key) ?? id;
      this.#still.set(key, id);
      return before === id ? [] : [`${key} was removed, and sent again`];
    });
  }

  /** Files of the share that the ledger does not have as they are: each content has a length of its own. */
  async #unrecorded(): Promise<string[]> {
    const rows = await this.hosts.sql(
      `SELECT body ->> 'key' AS key, body ->> 'size_bytes' AS size FROM botsync.file WHERE state = 'synced'`,
    );
    const recorded = new Map(rows.map(({ key, size }) => [key, Number(size)]));
    const local = [...this.#localFiles()];
    return local.flatMap(([key, file]) => (recorded.get(key) === statSync(file).size ? [] : [key]));
  }

  /** Starts a host again that was killed. */
  restart(one: FaultyHost): void {
    one.running = one.host.launch();
    one.isStopped = false;
    collect(one);
  }

  /** Ends all hosts. */
  async end(): Promise<void> {
    await Promise.all(this.all.map((one) => this.kill(one)));
  }

  async kill(one: FaultyHost): Promise<void> {
    one.running.child.kill('SIGKILL');
    await one.running.ended;
  }

  stop(one: FaultyHost): void {
    one.running.child.kill('SIGSTOP');
    one.isStopped = true;
  }

  wake(one: FaultyHost): void {
    one.running.child.kill('SIGCONT');
    one.isStopped = false;
  }

  /** Waits until everything is where it belongs, and checks how it came there. */
  async settle(more: { readonly isForgetful?: boolean; readonly words?: string } = {}): Promise<void> {
    const deadline = performance.now() + LONG_PATIENCE_MS;
    if (more.isForgetful === true) this.#noteUnmarked();
    let different = this.differences();
    for (; different.length > 0 && performance.now() < deadline; different = this.differences())
      // Each file is read: not more often than needed.
      await sleep(100);
    expect(different, `${more.words ?? ''}\n${this.story()}\n${this.#storyOf(different)}`).toEqual([]);
    await expect.poll(() => this.#unrecorded().catch(() => null), PATIENCE).toEqual([]);
    // What was deleted stays on record as long as something of it may arrive late.
    const open = `SELECT count(*)::integer AS open FROM botsync.file
      WHERE state <> 'synced' AND NOT (state = 'removing' AND body ->> 'expires_at' IS NOT NULL)`;
    await expect.poll(() => this.hosts.sql(open).catch(() => null), PATIENCE).toEqual([{ open: 0 }]);
    await expect
      .poll(() => this.hosts.sql('SELECT id FROM botsync.wish').catch(() => null), PATIENCE)
      .toEqual([]);
    const faults = [...this.faults(more.isForgetful), ...this.#removedMeanwhile()];
    expect(faults, `${more.words ?? ''}\n${this.story()}\n${this.#storyOf(faults)}`).toEqual([]);
    this.#demandRunning();
  }

  /**
   * What was done wrong so far.
   *
   * @param isForgetful - the database lost commits.
   */
  faults(isForgetful = false): string[] {
    return faultsOf(this.testimony(), this.#leaseMs, isForgetful);
  }

  testimony(): Testimony {
    return this.witness.testimony();
  }

  /** What the hosts said, for a failure. */
  story(): string {
    return this.all.map(({ name, log }) => `--- ${name}\n${log.slice(-1500)}`).join('\n');
  }

  /** What was said and seen of the files that faults or differences name, for a failure. */
  #storyOf(faults: readonly string[]): string {
    const keys = new Set(faults.flatMap((fault) => /\S+\.md/u.exec(fault) ?? []));
    const { files, arrivals } = this.testimony();
    const lines = [...keys].flatMap((key) => [
      ...this.all.flatMap(({ name, log }) =>
        log
          .split('\n')
          .filter((line) => line.includes(`"${key}"`))
          .map((line) => `${name} ${line}`),
      ),
      ...[...files, ...arrivals].filter((one) => one.key === key).map((one) => JSON.stringify(one)),
    ]);
    return lines.join('\n');
  }

  #demandRunning(): void {
    for (const { running, name } of this.all)
      expect(running.child.exitCode, `${name} ended by itself: ${this.story()}`).toBeNull();
  }
}

async function launch(
  server: PostgresServer,
  hosts: Hosts,
  witness: Witness,
  name: string,
  { cluster = {}, config = {}, leaseMs = LEASE_MS }: FaultWorldOptions,
): Promise<FaultyHost> {
  const database = await startBlackHole('127.0.0.1', server.port);
  const platform = await startBlackHole('127.0.0.1', Number(new URL(hosts.emulator.baseUrl).port));
  witness.know(name, platform);
  onTestFinished(async () => {
    await Promise.all([database.close(), platform.close()]);
  });
  const mountPoint = join(dirname(hosts.share), name, 'docs');
  mkdirSync(dirname(mountPoint), { recursive: true });
  symlinkSync(join(hosts.share, 'docs'), mountPoint);
  const options: HostOptions = {
    cluster: { lease: `${leaseMs}ms`, ...cluster },
    config: {
      sources: [{ name: 'docs', directory: mountPoint }],
      removals: { mode: 'delete', delay: '200ms', maxFraction: 1, maxCount: 10_000 },
      upload: { stallTimeout: '2s' },
      ...config,
    },
    databaseUrl: database.lead(server.url(hosts.database)),
    env: { HTTP_PROXY: `http://127.0.0.1:${platform.port}`, http_proxy: '', no_proxy: '', NO_PROXY: '' },
  };
  const host = hosts.host(name, options);
  const one: FaultyHost = {
    ...{ name, host, database, platform, mountPoint },
    running: host.launch(),
    log: '',
    isStopped: false,
  };
  collect(one);
  return one;
}

function collect(one: FaultyHost): void {
  one.running.child.stderr?.on('data', (text: string) => (one.log += text));
}

/** The files of a tree by their keys, that are not being written. */
function filesIn(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const file = join(root, entry);
    if (statSync(file).isFile()) found.set(relative(root, file), file);
  }
  return found;
}

/** Lets time pass that is a part of what is tried: how long something is out of order. */
export const outOfOrder = (ms: number): Promise<void> => sleep(ms);
