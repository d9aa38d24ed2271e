import type { Cluster } from './open-cluster.ts';

/** What hosts of a cluster wake each other by: the channel of notifications. */
export function channelOf(schema: string): string {
  return `botsync_${schema.replaceAll(/[^a-z0-9_]/gu, '_')}`;
}

/** Has all hosts beat at once: else they hear of a change with their next beat. Throws `DatabaseError`. */
export async function wakeHosts({ database, config }: Pick<Cluster, 'database' | 'config'>): Promise<void> {
  await database.sql('SELECT pg_notify($1, $2)', [channelOf(config.schema), config.host]);
}
