import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { WorkingCopy } from '../../src/store/working-copy.ts';

test('a working copy in memory leaves the working directory alone', () => {
  const file = `${process.cwd()}/:memory:-wal`;
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, '');
  onTestFinished(() => {
    rmSync(file, { force: true });
  });
  new WorkingCopy(':memory:').close();
  expect(existsSync(file)).toBe(true);
});
