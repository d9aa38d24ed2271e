// What all benchmarks share: scratch space, the server, timing of whole processes, and the report.
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const botsync = new URL('../dist/cli/main.js', import.meta.url).pathname;

// Node reads such a file whenever it starts, whatever it runs: where there is one it would be part of every figure.
delete process.env.NODE_EXTRA_CA_CERTS;

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
    return await action(`http://127.0.0.1:${port}`, server);
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

/** Starts `botsync sync` and runs something once its first pass is over; `seconds`: how long that took. */
export async function withDaemon(directory, action) {
  const memoryFile = join(directory, `memory-${process.pid}`);
  const hook = new URL('report-memory.js', import.meta.url).href;
  const began = performance.now();
  const daemon = spawn(process.execPath, ['--import', hook, botsync, 'sync'], {
    cwd: directory,
    env: { ...process.env, BOTSYNC_TOKEN: 'bench', BENCH_MEMORY_FILE: memoryFile },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => daemon.once('close', resolve));
  try {
    await new Promise((resolve, reject) => {
      daemon.stderr.on('data', (chunk) => {
        if (chunk.toString().includes('"trigger":"start"')) resolve();
      });
      daemon.once('close', reject);
    });
    const seconds = (performance.now() - began) / 1000;
    const result = await action({ seconds, pid: daemon.pid });
    daemon.kill('SIGTERM');
    await ended;
    return { ...result, peakMegabytes: readPeak(memoryFile) };
  } finally {
    daemon.kill('SIGKILL');
    await ended;
  }
}

/** Inotify watches of a process. */
export function countWatches(pid) {
  return readdirSync(`/proc/${pid}/fdinfo`)
    .map((name) => readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8'))
    .reduce((sum, info) => sum + (info.match(/^inotify /gmu)?.length ?? 0), 0);
}

/** Processor time of a process until now, seconds. */
export function processorSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Writes a configuration for `docs/` in a directory. */
export function writeConfig(directory, config) {
  const platform = { botId: 'bench', token: 'env:BOTSYNC_TOKEN', ...config.platform };
  const whole = { sources: [{ directory: './docs' }], ...config, platform };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(whole));
}

/** Makes `docs/` with so many files: `perDirectory` a directory, a hundred directories a section. */
export function makeTree(directory, files, contentOf, perDirectory = 100) {
  for (let n = 0; n < files; n++) {
    const parent = join(
      directory,
      'docs',
      `section-${Math.floor(n / (perDirectory * 100))}`,
      `topic-${Math.floor(n / perDirectory) % 100}`,
    );
    if (n % perDirectory === 0) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `article-${n % perDirectory}.md`), contentOf(n));
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
