import { execFileSync } from 'node:child_process';
import { test } from 'vitest';
import { ROOT } from './pages.ts';

test('`npm run test:fences` still finds each fence in the sources, and the tests that must notice when it is gone', () => {
  execFileSync(process.execPath, ['scripts/fences.js', '--check'], { cwd: ROOT, stdio: 'pipe' });
});
