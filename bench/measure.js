// What all benchmarks share: scratch space, the server, timing of whole processes, and the report.
import { fork, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

export const botsync = new URL('../dist/cli/main.js', import.meta.url).pathname;
const usageHook = new URL('report-usage.js', import.meta.url).href;
/** Of the server, where it speaks https. */
const certificate = new URL('../test/tls/test-only-authority.pem', import.meta.url).pathname;
const toServer = new Agent({ connect: { ca: readFileSync(certificate) } });
let processes = 0;

// Node reads such a file whenever it starts, whatever it runs: where there is one it would be part of every figure.
delete process.env.NODE_EXTRA_CA_CERTS;
// rclone does not start with one.
delete process.env.AWS_CA_BUNDLE;

/** Runs something with a directory of its own, which is removed afterwards. */
export async function withScratch(action) {
  const directory = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'botsync-bench-'));
  try {
    return await action(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Runs something beside the server, which listens at the base URL it is given. `smallBuffer`: see small-buffer.pl.
 * `tls`: it speaks https, and what is started meanwhile trusts it.
 */
export async function withServer(action, { smallBuffer = false, tls = false } = {}) {
  const wrapper = new URL('server/small-buffer.pl', import.meta.url).pathname;
  const server = fork(new URL('server.js', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...(tls && { BENCH_TLS: '1' }) },
    ...(smallBuffer && {
      execPath: 'perl',
      execArgv: [wrapper, process.execPath],
    }),
  });
  try {
    const port = await new Promise((resolve, reject) => {
      server.once('message', resolve);
      server.once('exit', reject);
    });
    if (tls) process.env.NODE_EXTRA_CA_CERTS = certificate;
    return await action(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`, server);
  } finally {
    delete process.env.NODE_EXTRA_CA_CERTS;
    server.disconnect();
  }
}

/** Sets what the server is like from now on (see server.js), and begins its tally anew. */
export async function setConditions(baseUrl, conditions) {
  await ask(`${baseUrl}/conditions`, { method: 'PUT', body: JSON.stringify(conditions) });
}

/** What the server saw since its conditions were set. */
export async function readTally(baseUrl) {
  return JSON.parse(await ask(`${baseUrl}/tally`));
}

/** Asks the server, over https as well; returns its answer. */
async function ask(url, options) {
  const { body } = await request(url, { ...options, dispatcher: toServer });
  return body.text();
}

/**
 * Makes the platform have files that botsync sent from `docs/` once, all with the same facts, in an order of its own.
 * `contentOf`: by number, as of `makeTree`, whose paths are `keys`. The server must keep files.
 */
export async function seedFiles(baseUrl, keys, contentOf, facts) {
  const files = keys.map((key, n) => {
    const content = Buffer.from(contentOf(n));
    return [key, content.length, createHash('sha256').update(content).digest('hex')];
  });
  const inOrderOfHash = files.toSorted(([, , one], [, , other]) => (one < other ? -1 : 1));
  await ask(`${baseUrl}/seed`, {
    method: 'PUT',
    body: JSON.stringify({ files: inOrderOfHash, facts, source: 'docs' }),
  });
}

/** Every file that the server has. */
export async function listFiles(baseUrl) {
  const files = [];
  let nextToken;
  do {
    const query = nextToken === undefined ? '' : `?nextToken=${encodeURIComponent(nextToken)}`;
    const headers = { authorization: 'Bearer bench', 'x-bot-id': 'bench' };
    const page = JSON.parse(await ask(`${baseUrl}/v1/files${query}`, { headers }));
    files.push(...page.files);
    ({ nextToken } = page.meta);
  } while (nextToken !== undefined);
  return files;
}

/** Asks the server until what it saw is enough, or so many seconds are over; returns what it saw last. */
export async function untilTally(baseUrl, isEnough, mostSeconds) {
  const giveUpMs = performance.now() + mostSeconds * 1000;
  for (;;) {
    const tally = await readTally(baseUrl);
    if (isEnough(tally) || performance.now() > giveUpMs) return tally;
    await delay(100);
  }
}

/**
 * Runs a process to its end: `{ seconds, peakMegabytes, processorSeconds, output }`. Memory and processor time are known
 * where `runNode` runs it. Throws when it ends with another code than `expectedCode`.
 */
export async function run(command, args, { expectedCode = 0, ...options } = {}) {
  const { ended } = begin(command, args, options);
  const { code, errors, ...measured } = await ended;
  if (code !== expectedCode)
    throw new Error(
      `${command} ${args.join(' ')} ended with ${code}: ${errors}${measured.output.slice(-2000)}`,
    );
  return measured;
}

/** Starts a process: `{ child, ended }`. */
function begin(command, args, { cwd, env = {} } = {}) {
  processes += 1;
  const usageFile = join(tmpdir(), `botsync-bench-usage-${process.pid}-${processes}`);
  const began = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, BOTSYNC_TOKEN: 'bench', BENCH_USAGE_FILE: usageFile, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output = (output + chunk).slice(-100_000)));
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-10_000)));
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const seconds = (performance.now() - began) / 1000;
      resolve({ code, seconds, output, errors, ...readUsage(usageFile) });
    });
  });
  return { child, ended };
}

/** How many requests a tally counts, uploads to the store among them. */
export function countRequests({ operations, uploads }) {
  return Object.values(operations).reduce((sum, count) => sum + count, uploads.begun);
}

/** Runs Node with the hook that reports peak memory and processor time. */
export function runNode(args, options) {
  return run(process.execPath, ['--import', usageHook, ...args], options);
}

function readUsage(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { peakMegabytes: null, processorSeconds: null };
  } finally {
    rmSync(file, { force: true });
  }
}

/** Processor time that a program takes, seconds; `null` where it is not installed. */
export async function programSeconds(command, args, options) {
  const installed = await begin('sh', ['-c', 'command -v "$1"', 'sh', command]).ended;
  if (installed.code !== 0) return null;
  const { output } = await run('sh', ['-c', '"$@" >&2 && times', 'sh', command, ...args], options);
  // The second line is that of the children: user and system, as 0m1.23s.
  const times = output
    .trim()
    .split('\n')[1]
    .matchAll(/(\d+)m([\d.]+)s/gu);
  return [...times].reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/** Starts `botsync sync --once`, as a client of that name, which something else ends. */
export function beginSync(directory, client = '') {
  const env = { BOTSYNC_TOKEN: client === '' ? 'bench' : `bench-${client}` };
  return begin(process.execPath, [botsync, 'sync', '--once', '--log-level', 'warn'], { cwd: directory, env });
}

/** What botsync remembers of a directory is gone. */
export function forgetRecords(directory) {
  rmSync(join(directory, '.botsync'), { recursive: true, force: true });
}

/** Runs `botsync sync --once` and returns what it says with the measurements. Throws unless it says so. */
export async function sync(directory, expected) {
  const measured = await runNode([botsync, 'sync', '--once', '--log-level', 'warn'], { cwd: directory });
  if (!measured.output.includes(expected)) throw new Error(`${measured.output} does not say ${expected}`);
  return measured;
}

/** Starts `botsync sync` and runs something once its first pass is over; `seconds`: how long that took. */
export async function withDaemon(directory, action) {
  const usageFile = join(directory, `usage-${process.pid}`);
  const began = performance.now();
  const daemon = spawn(process.execPath, ['--import', usageHook, botsync, 'sync', '--log-format', 'json'], {
    cwd: directory,
    env: { ...process.env, BOTSYNC_TOKEN: 'bench', BENCH_USAGE_FILE: usageFile },
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
    return { ...result, ...readUsage(usageFile) };
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

/**
 * Makes `docs/` with so many files: `perDirectory` a directory, a hundred directories a section. Returns their paths within
 * it.
 */
export function makeTree(directory, files, contentOf, perDirectory = 100) {
  const paths = [];
  for (let n = 0; n < files; n++) {
    const parent = join(
      `section-${Math.floor(n / (perDirectory * 100))}`,
      `topic-${Math.floor(n / perDirectory) % 100}`,
    );
    if (n % perDirectory === 0) mkdirSync(join(directory, 'docs', parent), { recursive: true });
    paths.push(join(parent, `article-${n % perDirectory}.md`));
    writeFileSync(join(directory, 'docs', paths[n]), contentOf(n));
  }
  return paths;
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
