import { readdirSync, readlinkSync } from 'node:fs';

/** The descriptors that this process holds of a file. */
export function descriptorsOf(path: string): number[] {
  return readdirSync('/proc/self/fd')
    .filter((fd) => linkOf(fd) === path)
    .map(Number);
}

/** The descriptors that this process holds of a directory and all below it: other tests open and close theirs meanwhile. */
export function descriptorsBelow(directory: string): string[] {
  return readdirSync('/proc/self/fd').filter((fd) => `${linkOf(fd)}/`.startsWith(`${directory}/`));
}

/** What one of our descriptors stands for; '' when it is closed by now. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
