import { doubtful, fine, type Diagnosis } from './finding.ts';

/** The last day on which the Node project fixes a line of versions: https://github.com/nodejs/release#release-schedule */
const END_OF_LIFE: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/** Whether the version of Node still gets security fixes; one that is not known here is newer than this botsync. */
export function checkNode(version: string, nowMs: number): Diagnosis[] {
  const line = Number(version.split('.')[0]);
  const lastDay = END_OF_LIFE[line];
  if (lastDay === undefined || nowMs <= Date.parse(`${lastDay}T23:59:59Z`))
    return [fine('node', `${version}${lastDay === undefined ? '' : `, supported until ${lastDay}`}`)];
  const supported = Object.entries(END_OF_LIFE)
    .filter(([other, day]) => Number(other) % 2 === 0 && nowMs <= Date.parse(day))
    .map(([other]) => other);
  const next = supported.length === 0 ? 'a newer one' : `Node ${supported.join(' or ')}`;
  return [
    doubtful(
      'node',
      `${version} has had no security fixes from the Node project since ${lastDay}`,
      `install ${next}, unless your distribution still maintains this one`,
    ),
  ];
}
