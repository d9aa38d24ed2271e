import { print, shown } from './output.ts';

/**
 * Prints a value as one line of JSON. Control characters that JSON leaves alone are escaped: in its texts, where alone
 * they can stand, that changes nothing of what they mean.
 */
export function printJson(value: object): void {
  print(shown(JSON.stringify(value)));
}
