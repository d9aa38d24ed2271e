import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from './binary.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
};

test('npm pack gives a tarball that installs into an empty folder and runs', () => {
  const directory = temporaryDirectory();
  const npm = (cwd: string, ...args: string[]): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  const [packed] = JSON.parse(
    npm(ROOT, 'pack', '--ignore-scripts', '--json', '--pack-destination', directory),
  ) as [{ filename: string }];
  writeFileSync(join(directory, 'package.json'), '{}');
  npm(directory, 'install', '--prefer-offline', '--no-audit', '--no-fund', `./${packed.filename}`);
  const installed = join(directory, 'node_modules/botsync');
  const binary = join(directory, 'node_modules/.bin/botsync');
  expect(execFileSync(binary, ['--version'], { encoding: 'utf8' })).toBe(`${manifest.version}\n`);
  for (const file of [
    'config.schema.json',
    'config.example.json',
    'README.md',
    'LICENSE',
    'dist/THIRD-PARTY-LICENSES.txt',
  ]) {
    expect(existsSync(join(installed, file)), file).toBe(true);
  }
  const demo = execFileSync(
    binary,
    ['sync', '--once', '--emulator', '-c', join(installed, 'config.example.json')],
    { encoding: 'utf8', stdio: 'pipe' },
  );
  expect(demo).toMatch(/^In sync: 9 uploaded/u);
}, 120_000);

test('every script that README or docs name exists, and every relative link leads somewhere', () => {
  for (const file of [
    'README.md',
    'CONTRIBUTING.md',
    'docs/ARCHITECTURE.md',
    'docs/COMMANDS.md',
    'docs/CONFIGURATION.md',
    'docs/OPERATIONS.md',
    'docs/SECURITY.md',
    'SECURITY.md',
    'docs/how-to/debian-package.md',
    'docs/how-to/docker.md',
    'docs/how-to/github-actions.md',
  ]) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const [, script = ''] of text.matchAll(/npm run ([a-z:-]+)/gu))
      expect(manifest.scripts, file).toHaveProperty([script]);
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/gu)) {
      expect(existsSync(resolve(ROOT, file, '..', link)), `${file}: ${link}`).toBe(true);
    }
  }
});
