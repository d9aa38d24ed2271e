import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { machineOf } from '../../../src/run/cluster/host-name.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

test('a machine is told from its copy, which was started by itself, and from itself after another start', () => {
  const file = join(makeTemporaryDirectory('machine'), 'state.db');
  const own = machineOf(file);
  writeFileSync(file, 'of whatever content');
  expect(machineOf(file), 'a process of this machine after another').toBe(own);
  expect(machineOf(file, 'another start')).not.toBe(own);
  expect(machineOf(file, 'another start')).toBe(machineOf(file, 'another start'));
  expect(machineOf(join(makeTemporaryDirectory('machine'), 'state.db'))).not.toBe(own);
});
