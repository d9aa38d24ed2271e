// node scripts/long-test.js model|soak|crash [--NAME VALUE]…: tests that run longer than in the gate, or again as they failed.
//   model: --runs N, --seed N, --path P and --replay-path P as a failure prints them
//   soak: --days N, --grain-seconds N, --seed N
//   crash: --kills N, --seed N and --round N as a failure names them
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const SUITES = {
  model: {
    directory: 'test/model',
    options: {
      runs: { name: 'MODEL_RUNS', default: '1000' },
      seed: { name: 'MODEL_SEED' },
      path: { name: 'MODEL_PATH' },
      'replay-path': { name: 'MODEL_REPLAY_PATH' },
    },
  },
  soak: {
    directory: 'test/soak',
    options: {
      days: { name: 'SOAK_DAYS', default: '200' },
      'grain-seconds': { name: 'SOAK_GRAIN_SECONDS', default: '60' },
      seed: { name: 'SOAK_SEED' },
    },
  },
  crash: {
    directory: 'test/crash',
    options: {
      kills: { name: 'CRASH_KILLS', default: '10000' },
      seed: { name: 'CRASH_SEED' },
      round: { name: 'CRASH_ROUND' },
    },
  },
};

const [name = '', ...rest] = process.argv.slice(2);
const suite = SUITES[name];
if (suite === undefined) throw new Error(`which tests? One of: ${Object.keys(SUITES).join(', ')}`);
const options = Object.fromEntries(Object.keys(suite.options).map((option) => [option, { type: 'string' }]));
// What is left are filters of vitest: the name of a test file.
const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true });
const env = { ...process.env };
for (const [option, { name: variable, default: usual }] of Object.entries(suite.options)) {
  const value = values[option] ?? (process.env[variable] === undefined ? usual : undefined);
  if (value !== undefined) env[variable] = value;
}
const tests = positionals.length > 0 ? positionals : [suite.directory];
const { status } = spawnSync('npx', ['vitest', 'run', ...tests], { env, stdio: 'inherit' });
process.exit(status ?? 1);
