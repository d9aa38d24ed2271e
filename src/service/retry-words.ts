import { durationText } from './amounts.ts';
import type { Words } from './log-line.ts';

/** That something is retried; `what` is empty where it goes without saying. */
export function retryWords(what: string, reason: string, delayMs: number): Words {
  return {
    style: null,
    head: '',
    rest: `retrying ${what === '' ? '' : `${what} `}in ${durationText(delayMs)}: ${reason}`,
  };
}
