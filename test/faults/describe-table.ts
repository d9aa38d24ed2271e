import type { CallCell, Cell, FileCell, Row } from './expectation.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { TABLE } from './table.ts';

const HEADINGS = [
  'the platform, or the store',
  'at the upsert',
  'at the upload',
  '`bots`, `integration`',
  '`conversation`, `message`',
];

/** The table in short, as README.md has it: faults of which the same comes share a line. */
export function describeTable(): string[] {
  const faultsOf = new Map<string, string[]>();
  for (const fault of Object.keys(FAULTS) as FaultName[]) {
    const outcome = describeRow(TABLE[fault]).join(' | ');
    faultsOf.set(outcome, [...(faultsOf.get(outcome) ?? []), fault]);
  }
  const lines = [...faultsOf].map(([outcome, faults]) => `| ${faults.join('; ')} | ${outcome} |`);
  return [`| ${HEADINGS.join(' | ')} |`, `|${' --- |'.repeat(HEADINGS.length)}`, ...lines];
}

function describeRow(row: Row): string[] {
  const conversation = describe(row['create-conversation command']);
  const message = describe(row['create-message command']);
  return [
    describe(row['upsert daemon']),
    describe(row['upload daemon']),
    describe(row['list-bots command']),
    message === conversation ? message : `${conversation}; of a message ${message}`,
  ];
}

function describe(cell: Cell): string {
  switch (cell.kind) {
    case 'file':
      return describeFile(cell);
    case 'call':
      return describeCall(cell);
    case 'told':
    case 'impossible':
      return '–';
  }
}

function describeFile({ stands, platformHas, pauses, exitCode, mended, waits }: FileCell): string {
  const wait = waits === 'no-time' ? '' : ', after the pause';
  if (stands === 'synced' && pauses === 'all') return 'everything waits, and is sent once it is over';
  if (stands === 'synced') return platformHas === 'it' ? `sent${wait}` : 'counts as sent';
  if (stands === 'refused') return 'refused until the file changes';
  const again = {
    'in-1m': 'next attempt in 1 min',
    'in-15m': 'next attempt with the rescan',
    'in-1h': 'next attempt after the pause',
  };
  const when = mended in again ? again[mended as keyof typeof again] : '';
  const others = {
    nothing: `retried${wait}`,
    bot: 'its bot pauses',
    room: 'files that need storage pause',
    all: 'everything pauses',
  };
  return `${others[pauses]}${exitCode === 4 ? ' (exit 4)' : ''}; ${when}`;
}

function describeCall({ exitCode, tries, mayHaveBeenDone, waits }: CallCell): string {
  const wait = waits === 'no-time' ? '' : ' after the pause';
  if (exitCode === 0) return 'done';
  const end = `exit ${exitCode}`;
  if (tries > 1) return `retried${wait}, then ${end}`;
  return mayHaveBeenDone ? `${end}, "may have been carried out"` : end;
}
