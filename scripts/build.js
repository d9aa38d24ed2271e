// Builds dist/ from src/ and makes the command executable.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
execFileSync('node', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
chmodSync('dist/cli/main.js', 0o755);
