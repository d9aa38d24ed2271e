import { print, shown } from './output.ts';

/**
 * A value as one line of JSON. Control characters that JSON leaves alone are escaped: in its texts, where alone
 * they can stand, that changes nothing of what they mean.
 */
export function jsonLine(value: object): string {
  return shown(JSON.stringify(value));
}

/** Prints a value as one line of JSON. */
export function printJson(value: object): void {
  print(jsonLine(value));
}
