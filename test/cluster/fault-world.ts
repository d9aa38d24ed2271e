import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Running } from '../cli/binary.ts';
import type { Dice } from '../cli/churn.ts';
import { startBlackHole, type BlackHole } from './black-hole.ts';
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
  running: Running;
  /** Its log so far. */
  log: string;
  isStopped: boolean;
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
      `INSERT INTO botsync.wish (unit, kind, body) SELECT id, 'release', '{}' FROM botsync.unit`,
    );
  }

  /** Writes a file that no file had the length of before. Gives what it holds. */
  write(path: string, leastBytes = 100): string {
    this.#contents += 1;
    const content = `${this.#contents} `.padEnd(leastBytes + this.#contents, `${this.#contents} `);
    this.hosts.write(`docs/${path}`, content);
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
    const local = filesIn(join(this.hosts.share, 'docs'));
    const remote = new Set(emulator.listFiles('bot-1').map(({ key }) => key));
    const wrong = [...local].flatMap(([key, file]) => {
      remote.delete(key);
      const held = emulator.readContent('bot-1', key);
      if (held === null) return [`${key} is missing`];
      return held.equals(readFileSync(file)) ? [] : [`${key} has another content`];
    });
    return [...wrong, ...[...remote].map((key) => `${key} was removed here`)];
  }

  /** Files of the share that the ledger does not have as they are: each content has a length of its own. */
  async #unrecorded(): Promise<string[]> {
    const rows = await this.hosts.sql(
      `SELECT body ->> 'key' AS key, body ->> 'size_bytes' AS size FROM botsync.file WHERE state = 'synced'`,
    );
    const recorded = new Map(rows.map(({ key, size }) => [key, Number(size)]));
    const local = [...filesIn(join(this.hosts.share, 'docs'))];
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
    let different = this.differences();
    for (; different.length > 0 && performance.now() < deadline; different = this.differences())
      // Each file is read: not more often than needed.
      await sleep(100);
    expect(different, `${more.words ?? ''}\n${this.story()}\n${this.#storyOf(different)}`).toEqual([]);
    // A database that went back in time is told again what it lost; whoever is killed before cannot tell it.
    await expect.poll(() => this.#unrecorded().catch(() => null), PATIENCE).toEqual([]);
    // What was deleted stays on record as long as something of it may arrive late.
    const open = `SELECT count(*)::integer AS open FROM botsync.file
      WHERE state <> 'synced' AND NOT (state = 'removing' AND body ->> 'expires_at' IS NOT NULL)`;
    await expect.poll(() => this.hosts.sql(open).catch(() => null), PATIENCE).toEqual([{ open: 0 }]);
    await expect
      .poll(() => this.hosts.sql('SELECT id FROM botsync.wish').catch(() => null), PATIENCE)
      .toEqual([]);
    const faults = this.faults(more.isForgetful);
    expect(faults, `${more.words ?? ''}\n${this.story()}\n${this.#storyOf(faults)}`).toEqual([]);
    this.#demandRunning();
  }

  /**
   * What was done wrong so far.
   *
   * @param isForgetful - the database lost commits, and was told all of it again: rows that it drops for that are none that were removed.
   */
  faults(isForgetful = false): string[] {
    const seen = this.testimony();
    const files = isForgetful ? seen.files.filter(({ state }) => state !== null) : seen.files;
    return faultsOf({ ...seen, files }, this.#leaseMs);
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
  const options: HostOptions = {
    cluster: { lease: `${leaseMs}ms`, ...cluster },
    config: {
      removals: { mode: 'delete', delay: '200ms', maxFraction: 1, maxCount: 10_000 },
      upload: { stallTimeout: '2s' },
      ...config,
    },
    databaseUrl: database.lead(server.url(hosts.database)),
    env: { HTTP_PROXY: `http://127.0.0.1:${platform.port}`, http_proxy: '', no_proxy: '', NO_PROXY: '' },
  };
  const host = hosts.host(name, options);
  const one: FaultyHost = {
    ...{ name, host, database, platform },
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
