import { inColour, usesColour, withoutColour, type Paint } from '../../service/colour.ts';
import type { StandardDescriptor } from './write-descriptor.ts';

let isForbidden = false;

/** From now on nothing is written in colours: `--no-color`. */
export function forbidColour(): void {
  isForbidden = true;
}

/** What paints texts for standard output (1) or standard error (2). */
export function paintFor(standard: StandardDescriptor): Paint {
  const { isTTY } = standard === 1 ? process.stdout : process.stderr;
  return usesColour({ env: process.env, isForbidden, isTerminal: isTTY }) ? inColour : withoutColour;
}
