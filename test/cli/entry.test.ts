import { copyFileSync, cpSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Linter } from 'eslint';
import { expect, test } from 'vitest';
import { BINARY, temporaryDirectory } from './binary.ts';

/** What a command that is called in a shell says. */
interface Said {
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs the entry alone, without the rest of the command, on a Node that says that it is of this version. */
function runAlone(version: string, ...args: string[]): Said {
  const directory = temporaryDirectory();
  const entry = join(directory, 'main.js');
  const preload = join(directory, 'version.mjs');
  copyFileSync(BINARY, entry);
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(preload, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
  const { status, stderr } = spawnSync(process.execPath, [entry, ...args], {
    cwd: directory,
    env: { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` },
    encoding: 'utf8',
  });
  return { code: status, stderr };
}

test('the entry is a script that Node 10 can read', () => {
  // The one thing in it that is newer is dynamic import, which Node 10 knows.
  const text = readFileSync(BINARY, 'utf8').replace('import("./start.js")', 'load("./start.js")');
  const languageOptions = { ecmaVersion: 2018, sourceType: 'script' } as const;
  expect(new Linter().verify(text, { languageOptions })).toEqual([]);
});

test.each(['10.24.1', '18.20.8', '20.18.3'])('Node %s is too old: one sentence and exit 2', (version) => {
  const { code, stderr } = runAlone(version, 'status');
  expect(code).toBe(2);
  expect(stderr).toBe(
    `botsync needs Node 20.19 or newer, and ${process.execPath} is Node ${version}; install a newer one from https://nodejs.org/en/download or, on Debian and Ubuntu, https://github.com/nodesource/distributions\n`,
  );
});

test('with --json it is one JSON object', () => {
  const { stderr } = runAlone('18.20.8', 'status', '--json');
  const error: unknown = JSON.parse(stderr);
  expect(error).toMatchObject({ kind: 'error', exitCode: 2 });
});

test.each(['20.19.0', '22.1.0', '100.0.0'])('Node %s will do; files that are missing are told', (version) => {
  const { code, stderr } = runAlone(version, 'status');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^botsync is not installed completely: .*start\.js.*; install it again\n$/u);
});

test.each([['--version'], ['status'], ['sync']])('a deleted working directory: %s is exit 2', (arg) => {
  const directory = join(temporaryDirectory(), 'gone');
  mkdirSync(directory);
  // The shell is in it when it goes, as that of a user is.
  const script = 'rmdir "$PWD" && exec "$0" "$@"';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, BINARY, arg], {
    cwd: directory,
    encoding: 'utf8',
  });
  expect(() => {
    rmdirSync(directory);
  }).toThrow('ENOENT');
  expect(stderr).toBe(
    'the working directory was deleted; change to one that exists (cd), then run botsync again\n',
  );
  expect(status).toBe(2);
});

test('without its package.json the command runs all the same', () => {
  const directory = temporaryDirectory();
  cpSync(dirname(dirname(BINARY)), join(directory, 'dist'), { recursive: true });
  writeFileSync(join(directory, 'dist/package.json'), '{"type":"module"}');
  const { status, stdout } = spawnSync(process.execPath, [join(directory, 'dist/cli/main.js'), '--version'], {
    cwd: directory,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, 'of unknown version\n']);
});
