import { test } from 'vitest';
import { STATUS_FAULTS, type FaultName } from './faults.ts';
import { expectRow } from './strike-row.ts';

test.each(Object.keys(STATUS_FAULTS) as FaultName[])('%s', expectRow, 60_000);
