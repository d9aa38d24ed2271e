import { createHash } from 'node:crypto';
import type { ClusterConfig } from '../../config/config.ts';
import type { Cluster } from './open-cluster.ts';

/** So much of a digest tells schemas apart. */
const DIGEST_DIGITS = 32;

/** PostgreSQL has no channel with a longer name, bytes; it refuses to notify one, and cuts one that is listened to. */
const LONGEST_CHANNEL = 63;

/** What hosts of a cluster wake each other by: the channel of notifications. A schema whose name leaves no room has its digest there. */
export function channelOf(schema: string): string {
  const channel = `botsync_${schema.replaceAll(/[^a-z0-9_]/gu, '_')}`;
  if (channel.length <= LONGEST_CHANNEL) return channel;
  const digest = createHash('sha256').update(schema).digest('hex');
  return `botsync_${digest.slice(0, DIGEST_DIGITS)}`;
}

/** Has all hosts beat at once: else they hear of a change with their next beat. Throws `DatabaseError`. */
export async function wakeHosts({
  database,
  config,
}: Pick<Cluster, 'database'> & { readonly config: Pick<ClusterConfig, 'schema' | 'host'> }): Promise<void> {
  await database.sql('SELECT pg_notify($1, $2)', [channelOf(config.schema), config.host]);
}
