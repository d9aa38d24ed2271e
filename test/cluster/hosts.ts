import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import { LEDGER_VERSION, ledgerTables } from '../../src/cluster/postgres/schema.ts';
import { STATE_VERSION } from '../../src/store/schema.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { run, start, type Ended, type Running } from '../cli/binary.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import type { PostgresServer } from './postgres.ts';

/** Several hosts of a cluster in one test: processes on one machine, with directories that they share. */
export interface Hosts {
  readonly emulator: Emulator;
  /** What all hosts see. */
  readonly share: string;
  /** The name of the database. */
  readonly database: string;
  readonly databaseUrl: string;
  readonly write: (path: string, content: string | Buffer) => void;
  /** What the platform has of a file, as text; `null`: it has none. */
  readonly content: (key: string) => string | null;
  /** Makes a host's own directory and configuration. */
  readonly host: (name: string, options?: HostOptions) => Host;
  /** Asks the database, in the ledger's schema. */
  readonly sql: (text: string) => Promise<Record<string, unknown>[]>;
  /** Which host holds a unit; `null`: none. */
  readonly holder: (unit?: string) => Promise<string | null>;
}

/** What a host has otherwise than the others. */
export interface HostOptions {
  /** Fields of `cluster`. */
  readonly cluster?: Record<string, unknown>;
  /** Other fields of the configuration. */
  readonly config?: Record<string, unknown>;
  /** How the database is reached; as it is unless given. */
  readonly databaseUrl?: string;
  /** More of its environment. */
  readonly env?: Record<string, string>;
}

/** One host. */
export interface Host {
  readonly name: string;
  readonly directory: string;
  readonly env: Record<string, string>;
  /** Starts its daemon. */
  readonly launch: () => Running;
  readonly run: (...args: string[]) => Promise<Ended>;
}

/** A lease that is short enough for tests. A beat is a quarter of it. */
export const LEASE_MS = 3000;

/** Makes a cluster without any host: an emulator, a ledger, and a share with one source, `docs/`. */
export async function createHosts(
  server: PostgresServer,
  options: Partial<EmulatorOptions> = {},
): Promise<Hosts> {
  const root = makeTemporaryDirectory('hosts');
  const share = join(root, 'share');
  mkdirSync(join(share, 'docs'), { recursive: true });
  const emulator = await startEmulator({
    port: 0,
    dataDir: join(root, 'emulator'),
    bots: [{ id: 'bot-1', name: 'One' }],
    ...options,
  });
  onTestFinished(() => emulator.close());
  const database = await server.createDatabase();
  const host = (
    name: string,
    { cluster = {}, config = {}, databaseUrl, env: more = {} }: HostOptions = {},
  ): Host => {
    const directory = join(root, name);
    mkdirSync(directory, { recursive: true });
    const env = {
      BOTSYNC_TOKEN: emulator.token,
      BOTSYNC_USER_KEY: emulator.userKey,
      BOTSYNC_DATABASE: databaseUrl ?? server.url(database),
      ...more,
    };
    const written = {
      platform: {
        baseUrl: emulator.baseUrl,
        token: 'env:BOTSYNC_TOKEN',
        botId: 'bot-1',
        workspaceId: emulator.workspaceId,
        chatUrl: emulator.chatUrl,
        chat: { webhookId: emulator.webhookId, userKey: 'env:BOTSYNC_USER_KEY' },
      },
      sources: [{ name: 'docs', directory: join(share, 'docs') }],
      watch: { settle: '50ms' },
      cluster: { database: 'env:BOTSYNC_DATABASE', host: name, lease: `${LEASE_MS}ms`, ...cluster },
      stateFile: join(directory, 'state.db'),
      ...config,
    };
    writeFileSync(join(directory, 'botsync.json'), JSON.stringify(written));
    return {
      name,
      directory,
      env,
      launch: () => start(directory, ['sync', '--log-format', 'json', '-c', 'botsync.json'], env),
      run: (...args) => run(directory, [...args, '-c', 'botsync.json'], env),
    };
  };
  const sql = async (text: string): Promise<Record<string, unknown>[]> => await server.query(text, database);
  for (const statement of ledgerTables('botsync')) await sql(statement);
  await sql(`INSERT INTO botsync.meta (version, state_version) VALUES (${LEDGER_VERSION}, ${STATE_VERSION})`);
  return {
    ...{ emulator, share, database, host, sql },
    databaseUrl: server.url(database),
    write: (path, content) => {
      const file = join(share, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    },
    content: (key) => emulator.readContent('bot-1', key)?.toString() ?? null,
    holder: async (unit = 'docs') => {
      const [row] = await sql(
        `SELECT holder_host FROM botsync.unit WHERE name = '${unit}' AND holder IS NOT NULL`,
      );
      return (row?.['holder_host'] as string | undefined) ?? null;
    },
  };
}
