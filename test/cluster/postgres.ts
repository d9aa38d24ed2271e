import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { TRUSTED_IDENTITY } from '../tls/identity.ts';
import { findFreePort } from './free-port.ts';
import {
  choosePostgres,
  copyTree,
  findServerUser,
  POSTGRES_ENVIRONMENT,
  prepareTemplate,
  type PostgresTemplate,
  type SystemUser,
} from './postgres-program.ts';
import { endHard, endWithUs, freezeFamily, thaw } from './processes.ts';

/** How long a server may take to accept connections, or to end, in milliseconds. */
const PATIENCE_MS = 30_000;

/** The name of a copy of a server's data, which only that server can restore. */
export type PostgresSnapshot = string & { readonly brand: 'PostgresSnapshot' };

/**
 * Starts a PostgreSQL server of its own: real processes on 127.0.0.1, with and without TLS, and on a socket file. Every
 * role may do what it may without a password; the superuser is `postgres`. `settings` are PostgreSQL's own. `fsync` is off unless
 * they set it: what a killed server has committed is in the kernel, and survives. As root it runs as another user.
 * `close` it in `afterAll`; it ends with this process in any case. Throws where there is no PostgreSQL.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PostgresServer> {
  const program = choosePostgres();
  const user = findServerUser();
  const directory = await mkdtemp(join(tmpdir(), 'botsync-postgres-'));
  try {
    const template = await prepareTemplate(process.env['BOTSYNC_TEST_RUN'] ?? directory, program, user);
    await furnish(directory, template, user);
    const server = new PostgresServer({
      directory,
      bin: template.bin,
      user,
      port: await findFreePort(),
      settings: { ...settingsIn(directory), ...settings },
    });
    await server.start();
    return server;
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** The server of a test file: it runs before its first test, and is closed after its last. See `startPostgres`. */
export async function serverOfFile(): Promise<PostgresServer> {
  const server = await startPostgres();
  afterAll(() => server.close());
  return server;
}

/** Fills the directory of a server: its data, and its certificate with a key that it may read. */
async function furnish(
  directory: string,
  template: PostgresTemplate,
  user: SystemUser | null,
): Promise<void> {
  const key = join(directory, 'server.key');
  await writeFile(key, TRUSTED_IDENTITY.key, { mode: 0o600 });
  await writeFile(join(directory, 'server.crt'), TRUSTED_IDENTITY.cert);
  await copyTree(template.data, join(directory, 'data'));
  await chmod(directory, 0o755);
  if (user === null) return;
  for (const path of [directory, key]) await chown(path, user.uid, user.gid);
}

function settingsIn(directory: string): Record<string, string | number> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory,
    fsync: 'off',
    ssl: 'on',
    ssl_cert_file: join(directory, 'server.crt'),
    ssl_key_file: join(directory, 'server.key'),
    // In the data directory: segments elsewhere outlive a killed server.
    dynamic_shared_memory_type: 'mmap',
  };
}

interface Setup {
  readonly directory: string;
  readonly bin: string;
  readonly user: SystemUser | null;
  readonly port: number;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** A running server: its process, and the shell that ends it when we are gone. */
interface Running {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  readonly guard: ChildProcess;
}

/** A PostgreSQL server of a test. Its methods wait for each other nowhere: call one at a time. */
export class PostgresServer {
  readonly #setup: Setup;
  #running: Running | null = null;
  /** Connections of `query` by their databases, until the server ends them. */
  readonly #kept = new Map<string, Promise<pg.Client>>();
  #databases = 0;
  #snapshots = 0;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** The port on 127.0.0.1 and in the name of the socket file; it stays the same. */
  get port(): number {
    return this.#setup.port;
  }

  /** The id of the server's first process; null while it is stopped. */
  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  /** The file with the certificate for 127.0.0.1 that the server shows: an authority of its own, for whoever is to trust it. */
  get certificateFile(): string {
    return join(this.#setup.directory, 'server.crt');
  }

  /** What the server says, over all its starts; a snapshot that is restored takes nothing of it back. */
  get logFile(): string {
    return join(this.#setup.directory, 'log');
  }

  /** The address on 127.0.0.1, with TLS or without, as the client wishes. */
  url(database = 'postgres', role = 'postgres'): string {
    return `postgresql://${role}@127.0.0.1:${this.port}/${database}`;
  }

  /** The address of the socket file, the directory percent-encoded in the place of the host. */
  socketUrl(database = 'postgres', role = 'postgres'): string {
    return `postgresql://${role}@${encodeURIComponent(this.#setup.directory)}:${this.port}/${database}`;
  }

  /** Makes an empty database and returns its name. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.query(`CREATE DATABASE ${name}`);
    return name;
  }

  /**
   * Runs SQL as superuser and returns the rows, of the last statement that has any. On a connection that is kept: tests ask every
   * few milliseconds, and a connection costs the server a process.
   */
  async query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = await this.#keptConnection(database);
    // Several statements in one string have several results, which the types do not know.
    const results = [await client.query<Record<string, unknown>>(sql)].flat();
    return results.at(-1)?.rows ?? [];
  }

  #keptConnection(database: string): Promise<pg.Client> {
    const kept = this.#kept.get(database);
    if (kept !== undefined) return kept;
    const client = new pg.Client({ connectionString: this.socketUrl(database) });
    const forget = (): void => {
      if (this.#kept.get(database) === connecting) this.#kept.delete(database);
    };
    // A server that is killed says so here as well as in the answer.
    client.on('error', forget);
    client.on('end', forget);
    const connecting = client.connect().then(
      () => client,
      (error: unknown) => {
        forget();
        throw error;
      },
    );
    this.#kept.set(database, connecting);
    return connecting;
  }

  /** A connection of its own as superuser, which ends with the test. */
  async connect(database: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.socketUrl(database) });
    client.on('error', () => undefined);
    await client.connect();
    onTestFinished(() => client.end().catch(() => undefined));
    return client;
  }

  /** Starts the server on its data and its port, and returns when it answers. Throws with its log when it ends instead. */
  async start(): Promise<void> {
    if (this.#running !== null) throw new Error('PostgreSQL runs already');
    const { directory, bin, user, settings } = this.#setup;
    const log = openSync(join(directory, 'log'), 'a');
    const options = Object.entries({ ...settings, port: this.port });
    const child = spawn(
      join(bin, 'postgres'),
      ['-D', join(directory, 'data'), ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...user, cwd: directory, env: POSTGRES_ENVIRONMENT, stdio: ['ignore', log, log], detached: true },
    );
    closeSync(log);
    const exited = once(child, 'exit');
    await once(child, 'spawn');
    child.unref();
    const pid = child.pid ?? 0;
    this.#running = { pid, exited, guard: endWithUs(pid) };
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await this.#answers())) {
      const ended = child.exitCode !== null || child.signalCode !== null;
      if (!ended && performance.now() < deadline) {
        await sleep(5);
        continue;
      }
      await this.#end('SIGQUIT');
      throw new Error(`PostgreSQL did not start:\n${await readFile(join(directory, 'log'), 'utf8')}`);
    }
  }

  async #answers(): Promise<boolean> {
    return await this.query('').then(
      () => true,
      () => false,
    );
  }

  /** Stops the server cleanly: open connections are closed by it, everything committed is in its files. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /**
   * Kills all processes of the server at once, as a power cut would, but for what the kernel has: commits stay, and the
   * next start recovers. Clients see their connections end without a word.
   */
  async killHard(): Promise<void> {
    if (this.#running === null) throw new Error('PostgreSQL does not run');
    const { pid, exited, guard } = this.#running;
    await endHard(await freezeFamily(pid));
    await exited;
    guard.kill('SIGKILL');
    this.#running = null;
  }

  /**
   * Copies the data as they are now. Of a stopped server it is a plain copy; a running one is frozen for it (some 50 ms), and what
   * comes of the copy is what would come of killing the server at that moment: all that was committed, nothing else.
   */
  async snapshot(): Promise<PostgresSnapshot> {
    this.#snapshots += 1;
    const copy = join(this.#setup.directory, `snapshot-${this.#snapshots}`);
    const frozen = this.#running === null ? [] : await freezeFamily(this.#running.pid);
    try {
      await copyTree(join(this.#setup.directory, 'data'), copy);
    } finally {
      thaw(frozen);
    }
    await rm(join(copy, 'postmaster.pid'), { force: true });
    return copy as PostgresSnapshot;
  }

  /**
   * Puts back the data of a snapshot, which may be used again: commits after it are lost, as in a failover to a standby that
   * had not received them. The server must be stopped, and stays so.
   */
  async restore(snapshot: PostgresSnapshot): Promise<void> {
    if (this.#running !== null) throw new Error('Stop PostgreSQL before its data are replaced');
    await this.#freeMemory();
    const data = join(this.#setup.directory, 'data');
    await rm(data, { recursive: true });
    await copyTree(snapshot, data);
  }

  /** Ends the server and deletes everything it had. Can be called in any state, and again. */
  async close(): Promise<void> {
    await this.#end('SIGQUIT');
    await this.#freeMemory();
    await rm(this.#setup.directory, { recursive: true, force: true });
  }

  async #end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    if (this.#running === null) return;
    const { pid, exited, guard } = this.#running;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await exited;
    guard.kill('SIGKILL');
    this.#running = null;
  }

  /** Frees the little shared memory that a killed server leaves in the kernel; the next start on the same data would as well. */
  async #freeMemory(): Promise<void> {
    const file = join(this.#setup.directory, 'data', 'postmaster.pid');
    const lines = await readFile(file, 'utf8').catch(() => '');
    const id = lines.split('\n')[6]?.trim().split(/\s+/u)[1];
    if (id !== undefined) await promisify(execFile)('ipcrm', ['-m', id]).catch(() => undefined);
  }
}
