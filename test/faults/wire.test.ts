import { test } from 'vitest';
import { WIRE_FAULTS, type FaultName } from './faults.ts';
import { expectRow } from './strike-row.ts';

test.each(Object.keys(WIRE_FAULTS) as FaultName[])('%s', expectRow, 60_000);
