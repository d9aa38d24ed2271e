import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/**
 * Returns an identifier of a machine since its last boot and a state file on it. A copy of a virtual machine differs
 * only in the boot: so a rebooted machine counts as another one, and waits until its name is free.
 *
 * @param boot - names the boot; `''`: the system has no such name.
 */
export function machineOf(stateFile: string, boot = textOf('/proc/sys/kernel/random/boot_id')): string {
  const parts = [hostname(), textOf('/etc/machine-id'), boot, stateFile, inodeOf(dirname(stateFile))];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function inodeOf(directory: string): string {
  const facts = statSync(directory, { throwIfNoEntry: false });
  return facts === undefined ? '' : `${facts.dev}:${facts.ino}`;
}
