import { lstatSync } from 'node:fs';
import type { SourceConfig } from '../config/config.ts';
import type { HaltStatus } from '../domain/status.ts';

/** Returns the first file that a halt holds for missing and that this machine sees; `null`: it sees none of them. */
export function firstSeenHere({ directory }: SourceConfig, halt: HaltStatus | null): string | null {
  // Files that would get other keys are not missing.
  if (halt?.kind === 'new-keys') return null;
  for (const path of halt?.first ?? [])
    if (lstatSync(`${directory}/${path}`, { throwIfNoEntry: false }) !== undefined) return path;
  return null;
}

/** The reason why a halt cannot be approved where another host sees what is missing. */
export function isSeenBy(host: string): string {
  return `this host does not see its files, but ${host} does, and takes it over`;
}

/** The reason why a halt cannot be approved from a machine that sees one of its files. */
export function isSeenHere(path: string): string {
  return `${path} is missing to the host that syncs the source, but this one sees it; check the directory there, or move the source to this host with botsync cluster release`;
}
