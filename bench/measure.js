// What all benchmarks share: scratch space, the server, timing of whole processes, and the report.
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const botsync = new URL('../dist/cli/main.js', import.meta.url).pathname;

/** Runs something with a directory of its own, which is removed afterwards. */
export async function withScratch(action) {
  const directory = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'botsync-bench-'));
  try {
    return await action(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs something beside the server, which listens at the base URL it is given. */
export async function withServer(action) {
  const server = fork(new URL('server.js', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    const port = await new Promise((resolve, reject) => {
      server.once('message', resolve);
      server.once('exit', reject);
    });
    return await action(`http://127.0.0.1:${port}`);
  } finally {
    server.disconnect();
  }
}

/** Runs a process to its end: `{ seconds, peakMegabytes, output }`. Memory is known for Node processes. */
export async function run(command, args, { cwd, env = {} } = {}) {
  const memoryFile = join(cwd ?? tmpdir(), `memory-${process.pid}`);
  const began = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, BOTSYNC_TOKEN: 'bench', BENCH_MEMORY_FILE: memoryFile, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output = (output + chunk).slice(-100_000)));
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-10_000)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${errors}${output.slice(-2000)}`);
  return { seconds, peakMegabytes: readPeak(memoryFile), output };
}

/** Runs Node with the hook that reports peak memory. */
export function runNode(args, options) {
  const hook = new URL('report-memory.js', import.meta.url).href;
  return run(process.execPath, ['--import', hook, ...args], options);
}

function readPeak(file) {
  try {
    return Number(readFileSync(file, 'utf8')) / 1024;
  } catch {
    return null;
  } finally {
    rmSync(file, { force: true });
  }
}

/** Runs `botsync sync --once` and returns what it says with the measurements. Throws unless it says so. */
export async function sync(directory, expected) {
  const measured = await runNode([botsync, 'sync', '--once', '--log-level', 'warn'], { cwd: directory });
  if (!measured.output.includes(expected)) throw new Error(`${measured.output} does not say ${expected}`);
  return measured;
}

/** Writes a configuration for `docs/` in a directory. */
export function writeConfig(directory, config) {
  const platform = { botId: 'bench', token: 'env:BOTSYNC_TOKEN', ...config.platform };
  const whole = { sources: [{ directory: './docs' }], ...config, platform };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(whole));
}

/** Makes `docs/` with so many files: a hundred a directory, a hundred directories a section. */
export function makeTree(directory, files, contentOf) {
  for (let n = 0; n < files; n++) {
    const parent = join(
      directory,
      'docs',
      `section-${Math.floor(n / 10_000)}`,
      `topic-${Math.floor(n / 100) % 100}`,
    );
    if (n % 100 === 0) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `article-${n % 100}.md`), contentOf(n));
  }
}

/** The median of some runs by a figure. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Prints a table row: what, measured, bound, verdict. */
export function row(what, value, relation, bound, unit) {
  const holds = relation === '>=' ? value >= bound : value <= bound;
  return { what, value: Number(value.toFixed(2)), relation, bound, unit, holds };
}
