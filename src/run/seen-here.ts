import { lstatSync } from 'node:fs';
import type { SourceConfig } from '../config/config.ts';
import { HALT_TRAITS } from '../domain/guard.ts';
import type { HaltStatus } from '../domain/status.ts';

/** Returns the first file that a halt reports as missing although this machine sees it; `null`: there is none. */
export function firstSeenHere({ directory }: SourceConfig, halt: HaltStatus | null): string | null {
  if (halt === null || !HALT_TRAITS[halt.kind].lacksFiles) return null;
  for (const path of halt.first)
    if (lstatSync(`${directory}/${path}`, { throwIfNoEntry: false }) !== undefined) return path;
  return null;
}

/** Returns the reason why a halt cannot be approved: another host sees what is missing. */
export function isSeenBy(host: string): string {
  return `this host does not see its files, but ${host} does, and takes it over`;
}

/** Returns the reason why a halt cannot be approved: this machine sees a file that is missing elsewhere. */
export function isSeenHere(path: string): string {
  return `${path} is missing to the host that syncs the source, but this one sees it; check the directory there, or move the source to this host with botsync cluster release`;
}
