// node scripts/long-test.js SUITE [--NAME VALUE]… [FILE…]: tests that run longer than in the gate, or again as they failed.
//   churn: the daemon under random edits, kills and faults; --operations N
//   cluster: --rounds N, each with a fault of its hosts, their network or their database; --worlds N, clusters side by side
//   crash: --kills N, and --round N as a failure names it
//   damage: --stride N, of so many rows of damage one
//   fuzz:  --runs N
//   model: --runs N, --path P and --replay-path P as a failure prints them
//   soak:  --days N, --grain-seconds N
// Each draws a seed, which its tests print, or takes --seed N.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const drawnSeed = () => String(Math.floor(Math.random() * 2 ** 31));

const SUITES = {
  churn: {
    tests: 'test/cli/churn.test.ts',
    options: { operations: { name: 'CHURN_OPERATIONS', default: '2000' } },
  },
  cluster: {
    tests: 'test/cluster/rounds.test.ts',
    options: { rounds: { name: 'CLUSTER_ROUNDS', default: '1000' }, worlds: { name: 'CLUSTER_WORLDS' } },
  },
  crash: {
    tests: 'test/crash',
    options: { kills: { name: 'CRASH_KILLS', default: '10000' }, round: { name: 'CRASH_ROUND' } },
  },
  damage: {
    tests: 'test/state-file/damaged.test.ts',
    options: { stride: { name: 'DAMAGE_STRIDE', default: '1' } },
  },
  fuzz: { tests: 'test/fuzz', options: { runs: { name: 'FUZZ_RUNS', default: '100000' } } },
  model: {
    tests: 'test/model',
    options: {
      runs: { name: 'MODEL_RUNS', default: '1000' },
      path: { name: 'MODEL_PATH' },
      'replay-path': { name: 'MODEL_REPLAY_PATH' },
    },
  },
  soak: {
    tests: 'test/soak',
    options: {
      days: { name: 'SOAK_DAYS', default: '200' },
      'grain-seconds': { name: 'SOAK_GRAIN_SECONDS', default: '60' },
    },
  },
};

const [name = '', ...rest] = process.argv.slice(2);
const suite = SUITES[name];
if (suite === undefined) throw new Error(`which tests? One of: ${Object.keys(SUITES).join(', ')}`);
const variables = { seed: { name: 'SEED', default: drawnSeed() }, ...suite.options };
const options = Object.fromEntries(Object.keys(variables).map((option) => [option, { type: 'string' }]));
// What is left are filters of vitest: the name of a test file.
const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true });
const env = { ...process.env };
for (const [option, { name: variable, default: usual }] of Object.entries(variables)) {
  const value = values[option] ?? env[variable] ?? usual;
  if (value !== undefined) env[variable] = value;
}
const tests = positionals.length > 0 ? positionals : [suite.tests];
const { status } = spawnSync('npx', ['vitest', 'run', ...tests], { env, stdio: 'inherit' });
process.exit(status ?? 1);
