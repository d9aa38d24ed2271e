import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { connectionOf } from '../../src/cluster/connection.ts';
import { ClusterDatabase } from '../../src/cluster/database.ts';
import { Membership } from '../../src/cluster/membership.ts';
import { run, type Ended } from '../cli/binary.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import type { PostgresServer } from './postgres.ts';

/** A directory with the configuration of one host, beside a database of its own. */
export interface ClusterSite {
  readonly directory: string;
  /** The name of the database. */
  readonly name: string;
  readonly database: ClusterDatabase;
  readonly membership: Membership;
  readonly stateFile: string;
  readonly env: Record<string, string>;
  /** Runs the built command. */
  readonly botsync: (...args: string[]) => Promise<Ended>;
}

/** What the address of the database of these tests says as password. */
export const PASSWORD = 'pass-word-of-the-database';

/** Where files are kept in a site, as records have it. */
export const SITE_TARGET = { baseUrl: 'http://127.0.0.1:9', botId: 'bot-1', identity: '{}' };

/** Makes a site with the sources `docs` and `faq`, which may give one key, `news`, and `own`, which is pinned to `web1`. */
export async function createClusterSite(
  server: PostgresServer,
  { host = 'web1', name, role = 'postgres' }: { host?: string; name?: string; role?: string } = {},
): Promise<ClusterSite> {
  const directory = makeTemporaryDirectory('cluster');
  const databaseName = name ?? (await server.createDatabase());
  const config = {
    platform: { botId: 'bot-1', baseUrl: SITE_TARGET.baseUrl, token: 'env:BOTSYNC_TOKEN' },
    sources: [
      { directory: './docs', keyPrefix: 'a/' },
      { directory: './faq', keyPrefix: 'a/faq/' },
      { directory: './news', keyPrefix: 'news/' },
      { directory: './own', keyPrefix: 'own/', host: 'web1' },
    ],
    cluster: { database: 'env:BOTSYNC_DATABASE', host, lease: '3s' },
  };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(config));
  const url = new URL(server.url(databaseName, role));
  url.password = PASSWORD;
  const env = { BOTSYNC_TOKEN: 'token', BOTSYNC_DATABASE: url.href };
  const connection = connectionOf(server.url(databaseName), 'test');
  if (connection.kind !== 'ok') throw new Error(connection.message);
  const database = new ClusterDatabase({
    connection: connection.config,
    patienceMs: 10_000,
    connections: 2,
  });
  onTestFinished(() => database.close());
  return {
    directory,
    name: databaseName,
    database,
    membership: new Membership(database.sql, 'botsync'),
    stateFile: join(directory, '.botsync', 'state.db'),
    env,
    botsync: (...args) => run(directory, args, env),
  };
}
