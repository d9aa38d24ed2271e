import type { Row } from './expectation.ts';
import type { FaultName } from './faults.ts';
import { PATIENCE_TABLE } from './patience-table.ts';
import { STATUS_TABLE } from './status-table.ts';
import { WIRE_TABLE } from './wire-table.ts';

/** What is expected of every fault, wherever it strikes: the compiler takes no empty cell. */
export const TABLE: Readonly<Record<FaultName, Row>> = { ...STATUS_TABLE, ...PATIENCE_TABLE, ...WIRE_TABLE };
