import { test } from 'vitest';
import { PATIENCE_FAULTS, type FaultName } from './faults.ts';
import { expectRow } from './strike-row.ts';

test.each(Object.keys(PATIENCE_FAULTS) as FaultName[])('%s', expectRow, 60_000);
