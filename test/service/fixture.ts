import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

/** A temporary directory that goes with the test. */
export function temporaryDirectory(): string {
  return makeTemporaryDirectory('service');
}

/** A process that runs one of our modules. */
export interface Running {
  readonly child: ChildProcess;
  /** What it has written to standard error so far. */
  readonly errors: () => string;
  /** Resolves with the first line of standard output. */
  readonly firstLine: Promise<string>;
  /** Resolves with exit code or signal. */
  readonly ended: Promise<number | string | null>;
}

/**
 * Runs a script in a process of its own, which may import the module at a path below `src/` as `./module.js`: the source
 * as it is now, whatever was built before. `edit` may change a constant in it that a test cannot wait for.
 */
export function run(
  module: string,
  script: string,
  edit: (source: string) => string = (source) => source,
): Running {
  const directory = temporaryDirectory();
  const source = edit(readFileSync(resolve('src', module), 'utf8'));
  const { outputFiles } = buildSync({
    stdin: { contents: source, loader: 'ts', resolveDir: dirname(resolve('src', module)) },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', write: false },
  });
  writeFileSync(join(directory, 'module.js'), outputFiles[0]?.text ?? '');
  writeFileSync(join(directory, 'main.js'), script);
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
  const child = spawn(process.execPath, [join(directory, 'main.js')], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | string | null>((end) => {
    child.once('close', (code, signal) => {
      end(code ?? signal);
    });
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let output = '';
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const firstLine = new Promise<string>((found, failed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('\n')) found(output.slice(0, output.indexOf('\n')));
    });
    child.once('close', () => {
      failed(new Error(`ended without a line: ${errors}`));
    });
  });
  firstLine.catch(() => undefined);
  return { child, errors: () => errors, firstLine, ended };
}
