import { bytesText, countText } from '../../service/amounts.ts';
import { shown } from './output.ts';
import type { FileInFlight } from '../../library/transfer-tally.ts';

/** So many are named. */
const NAMED = 3;

/** Files on their way, for people; the largest first. There must be one. */
export function describeInFlight(files: readonly FileInFlight[]): string {
  const named = files
    .slice(0, NAMED)
    .map(
      ({ name, sentBytes, sizeBytes }) =>
        `${shown(name)}, ${bytesText(sentBytes)} of ${bytesText(sizeBytes)}`,
    );
  const more = files.length > NAMED ? `; and ${files.length - NAMED} more` : '';
  return `${countText(files.length, 'file')} being sent (${named.join('; ')}${more})`;
}
