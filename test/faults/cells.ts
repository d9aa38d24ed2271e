import type { Call, Told } from './columns.ts';
import type { CallCell, Cell, FileCell, Impossible, Row, ToldCell, Words } from './expectation.ts';

/** What is expected of a file in a single pass and in the daemon. */
export interface InBothModes<C> {
  readonly once: C;
  readonly daemon: C;
}

type Files = InBothModes<FileCell | Impossible>;
type ToldCells = InBothModes<ToldCell | Impossible>;

/** A row, operation by operation. */
export interface Operations {
  readonly upsert: Files;
  readonly upload: Files;
  readonly calls: Readonly<Record<Call, CallCell | Impossible>>;
  readonly told: Readonly<Record<Told, ToldCells>>;
}

/** Spreads what is said of operations over the columns. */
export function row({ upsert, upload, calls, told }: Operations): Row {
  return {
    'upsert once': upsert.once,
    'upsert daemon': upsert.daemon,
    'upload once': upload.once,
    'upload daemon': upload.daemon,
    'list-bots command': calls['list-bots'],
    'list-bots once': NOT_LISTED,
    'list-bots daemon': NOT_LISTED,
    'get-integration command': calls['get-integration'],
    'get-integration once': told['get-integration'].once,
    'get-integration daemon': told['get-integration'].daemon,
    'create-conversation command': calls['create-conversation'],
    'create-conversation once': told['create-conversation'].once,
    'create-conversation daemon': told['create-conversation'].daemon,
    'create-message command': calls['create-message'],
    'create-message once': told['create-message'].once,
    'create-message daemon': told['create-message'].daemon,
  };
}

/** A combination that there is not. */
export function impossible(why: string): Impossible {
  return { kind: 'impossible', why };
}

const NOT_LISTED = impossible('only the command "bots" lists bots: no pass and no daemon does');

/** The same in both modes. */
export function inBothModes<C extends Cell>(cell: C): InBothModes<C> {
  return { once: cell, daemon: cell };
}

const FAILED_FILE = {
  kind: 'file',
  exitCode: 3,
  stands: 'failed',
  platformHas: 'not-it',
  pauses: 'nothing',
  waits: 'no-time',
} as const;

/** The file is not taken as it is: no second try before it changes. Others go on. */
export function refused(says: Words): InBothModes<FileCell> {
  return inBothModes({ ...FAILED_FILE, tries: 1, stands: 'refused', mended: 'edit', says });
}

/** The file fails after as many tries as it has, and is tried again with the next pass or rescan. Others go on. */
export function retried(says: Words, more: Partial<FileCell> = {}): InBothModes<FileCell> {
  const cell = { ...FAILED_FILE, tries: 2, says, ...more };
  return { once: { ...cell, mended: 'next-pass' }, daemon: { ...cell, mended: 'in-15m' } };
}

/** The platform is away for all: a single pass gives up after two minutes, the daemon waits and needs no rescan. */
export function outage(says: Words): InBothModes<FileCell> {
  // Of the probes of two minutes it makes some: all files that wait take turns.
  const { once } = retried(says, { tries: 10, pauses: 'all', waits: '20s' });
  const { daemon } = arrives({ pauses: 'all', mended: 'in-1m', says });
  return { once, daemon };
}

/** One try shows that more than this file has to wait; the daemon tries again after a minute. */
export function blocked(
  pauses: FileCell['pauses'],
  exitCode: FileCell['exitCode'],
  says: Words,
): InBothModes<FileCell> {
  const cell = { ...FAILED_FILE, tries: 1, pauses, exitCode, says };
  return { once: { ...cell, mended: 'next-pass' }, daemon: { ...cell, mended: 'in-1m' } };
}

/** The file arrives. */
export function arrives(more: Partial<FileCell> = {}): InBothModes<FileCell> {
  return inBothModes({
    ...{ kind: 'file', tries: 1, exitCode: 0, stands: 'synced', platformHas: 'it' },
    ...{ pauses: 'nothing', waits: 'no-time', mended: 'nothing', says: null },
    ...more,
  });
}

/** A store that says it took the content is believed, since nothing else could be: docs/SECURITY.md. */
export function believed(): InBothModes<FileCell> {
  return arrives({ platformHas: 'not-it', mended: 'edit' });
}

const FAILED_CALL = {
  kind: 'call',
  tries: 1,
  exitCode: 3,
  waits: 'no-time',
  mayHaveBeenDone: false,
} as const;

/** The command fails at once. */
export function fails(exitCode: 3 | 4, says: Words): CallCell {
  return { ...FAILED_CALL, exitCode, says };
}

/** The command fails after as many tries as it has. */
export function repeats(says: Words, waits: CallCell['waits'] = 'no-time'): CallCell {
  return { ...FAILED_CALL, tries: 2, waits, says };
}

/** The command fails at once, since nothing may be created twice, and warns that it may have been. */
export function unsure(says: Words): CallCell {
  return { ...FAILED_CALL, mayHaveBeenDone: true, says };
}

/** The command does what it should. */
export const SUCCEEDS: CallCell = { ...FAILED_CALL, exitCode: 0, says: null };

/** People are not told now; with the next pass, or half a minute later. */
export function untold(
  tries: number,
  says: Words,
  waits: ToldCell['waits'] = 'no-time',
): InBothModes<ToldCell> {
  const cell = { kind: 'told', tries, outcome: 'failed', waits, says } as const;
  return { once: { ...cell, mended: 'next-pass' }, daemon: { ...cell, mended: 'in-30s' } };
}

/** People are told. */
export function told(waits: ToldCell['waits'] = 'no-time'): InBothModes<ToldCell> {
  return inBothModes({ kind: 'told', tries: 1, outcome: 'sent', waits, mended: 'nothing', says: null });
}
