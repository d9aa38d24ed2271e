import { expect } from 'vitest';
import { strikeCommand } from './calls.ts';
import { COLUMNS, type Column } from './columns.ts';
import type { Cell } from './expectation.ts';
import type { FaultName } from './faults.ts';
import { strikeDaemon, waitOut } from './files-daemon.ts';
import { strikeOnce } from './files-once.ts';
import { TABLE } from './table.ts';
import { strikeTellingDaemon, strikeTellingOnce } from './telling.ts';

/** Lets a fault strike everywhere and holds what comes of it against the table. */
export async function expectRow(fault: FaultName): Promise<void> {
  const columns = COLUMNS.filter((column) => TABLE[fault][column].kind !== 'impossible');
  const observed = new Map<Column, Cell>();
  const strike = async (column: Column): Promise<void> => {
    try {
      observed.set(column, await strikeAt(fault, column));
    } catch (error) {
      throw new Error(`${column}: ${(error as Error).message}`, { cause: error });
    }
  };
  // What this process trusts is one for all of it.
  if (fault === 'an unknown certificate authority') for (const column of columns) await strike(column);
  else await Promise.all(columns.map(strike));
  expect(Object.fromEntries(observed)).toEqual(
    Object.fromEntries(columns.map((column) => [column, withPatterns(TABLE[fault][column])])),
  );
}

function strikeAt(fault: FaultName, column: Column): Promise<Cell> {
  switch (column) {
    case 'upsert once':
      return strikeOnce(fault, 'upsert');
    case 'upload once':
      return strikeOnce(fault, 'upload');
    case 'upsert daemon':
      return isOutage(fault, column)
        ? waitOut(fault, 'upsert')
        : strikeDaemon(fault, 'upsert', whatWaits(fault, column));
    case 'upload daemon':
      return strikeDaemon(fault, 'upload', whatWaits(fault, column));
    case 'list-bots command':
      return strikeCommand(fault, 'list-bots');
    case 'list-bots once':
    case 'list-bots daemon':
      throw new Error('nobody lists bots there');
    case 'get-integration command':
      return strikeCommand(fault, 'get-integration');
    case 'get-integration once':
      return strikeTellingOnce(fault, 'get-integration');
    case 'get-integration daemon':
      return strikeTellingDaemon(fault, 'get-integration');
    case 'create-conversation command':
      return strikeCommand(fault, 'create-conversation');
    case 'create-conversation once':
      return strikeTellingOnce(fault, 'create-conversation');
    case 'create-conversation daemon':
      return strikeTellingDaemon(fault, 'create-conversation');
    case 'create-message command':
      return strikeCommand(fault, 'create-message');
    case 'create-message once':
      return strikeTellingOnce(fault, 'create-message');
    case 'create-message daemon':
      return strikeTellingDaemon(fault, 'create-message');
  }
}

/** Whether the platform is away for all files, and the daemon waits. */
function isOutage(fault: FaultName, column: Column): boolean {
  const cell = TABLE[fault][column];
  return cell.kind === 'file' && cell.stands === 'synced' && cell.pauses === 'all';
}

/** What is expected to wait: the daemon is watched until all else has arrived. */
function whatWaits(fault: FaultName, column: Column) {
  const cell = TABLE[fault][column];
  return cell.kind === 'file' ? cell.pauses : 'nothing';
}

function withPatterns(cell: Cell): unknown {
  if (cell.kind === 'impossible' || cell.says === null) return cell;
  const { says } = cell;
  const pattern: unknown =
    typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
  return { ...cell, says: pattern };
}
