import { createHosts, type Hosts } from './hosts.ts';
import type { PostgresServer } from './postgres.ts';

/** Files of a share, enough that other keys for all of them halt the source. In order of their keys. */
export const FILES = Array.from({ length: 31 }, (_, i) => `f${i}.md`).sort();

/** Makes a cluster without any host, whose share has `FILES`. */
export async function createShare(server: PostgresServer): Promise<Hosts> {
  const hosts = await createHosts(server);
  for (const name of FILES) hosts.write(`docs/${name}`, name);
  return hosts;
}

/** The keys that the platform has, in order. */
export function keysOf({ emulator }: Hosts): string[] {
  return emulator
    .listFiles('bot-1')
    .map(({ key }) => key)
    .sort();
}
