// node bench/soak.js MINUTES: a daemon under slow churn against an emulator, both in processes of their own. Prints its
// memory, open files and processor time as they go, and at the end the medians of the first and the last quarter.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { botsync, makeTree, median, processorSeconds, withScratch, writeConfig } from './measure.js';

const minutes = Number(process.argv[2] ?? 30);
const FILES = 2000;
const SAMPLE_MS = 10_000;

await withScratch(async (directory) => {
  makeTree(directory, FILES, (n) => `article ${n}\n`);
  const platform = spawn(
    process.execPath,
    [botsync, 'emulator', '--port', '0', '--json', '--data', join(directory, 'platform')],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const [line] = await new Promise((resolve) =>
    createInterface(platform.stdout).once('line', (text) => resolve([text])),
  );
  const { baseUrl, token, bots } = JSON.parse(line);
  writeConfig(directory, {
    platform: { baseUrl, botId: bots[0].id, token: 'env:BOTSYNC_TOKEN' },
    rules: [{ match: '**/1*', expiresIn: '10m', renewBefore: '4m' }],
    removals: { mode: 'expire', delay: '5s', maxCount: 1_000_000, maxFraction: 1 },
    watch: { rescan: '2m' },
    service: { listen: '127.0.0.1:0' },
  });
  const env = { ...process.env, BOTSYNC_TOKEN: token };
  const daemon = spawn(process.execPath, [botsync, 'sync', '--log-level', 'warn'], {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await delay(20_000);
  const samples = [];
  const began = performance.now();
  let nextSampleMs = 0;
  for (let n = 0; performance.now() - began < minutes * 60_000; n++) {
    churn(directory, n);
    await delay(250 + Math.random() * 500);
    const nowMs = performance.now() - began;
    if (nowMs < nextSampleMs) continue;
    nextSampleMs = nowMs + SAMPLE_MS;
    const sample = look(daemon.pid);
    samples.push(sample);
    console.log(
      `${(nowMs / 60_000).toFixed(1)} min: ${sample.rssMb} MB, ${sample.files} open files, ${sample.cpuSeconds.toFixed(1)} s of processor`,
    );
  }
  await delay(15_000);
  daemon.kill('SIGTERM');
  const code = await new Promise((resolve) => daemon.once('exit', resolve));
  const plan = spawn(process.execPath, [botsync, 'sync', '--dry-run'], {
    cwd: directory,
    env,
    stdio: 'inherit',
  });
  const planCode = await new Promise((resolve) => plan.once('exit', resolve));
  platform.kill('SIGTERM');
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const of = (part, what) => median(part.map((sample) => sample[what]));
  const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)];
  for (const what of ['rssMb', 'files'])
    console.log(`${what}: first quarter ${of(first, what)}, last ${of(last, what)}`);
  const share = samples.at(-1).cpuSeconds / ((performance.now() - began) / 1000);
  console.log(
    `processor: ${(share * 100).toFixed(2)} % of a core; daemon ended with ${code}, dry run with ${planCode}`,
  );
});

function churn(directory, n) {
  const path = (k) => join(directory, 'docs', `soak-${k % 20}`, `file-${k % 300}`);
  const pick = Math.floor(Math.random() * n);
  try {
    switch (n % 6) {
      case 0:
      case 1:
        mkdirSync(join(path(n), '..'), { recursive: true });
        writeFileSync(path(n), `written ${n}\n`);
        break;
      case 2:
        appendFileSync(path(pick), `appended ${n}\n`);
        break;
      case 3:
        renameSync(path(pick), `${path(pick)}-renamed`);
        break;
      case 4:
        rmSync(path(pick));
        break;
      default:
        if (n % 60 === 5) rmSync(join(path(pick), '..'), { recursive: true });
    }
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
  }
}

function look(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    rssMb: Math.round(Number(/VmRSS:\s+(\d+)/u.exec(status)[1]) / 1024),
    files: readdirSync(`/proc/${pid}/fd`).length,
    cpuSeconds: processorSeconds(pid),
  };
}
