// npm run bench [-- NAME …]: every figure is a ratio measured side by side in one run. Prints a table, and as JSON to
// bench/results/latest.json. Ends with 1 when a bound does not hold or could not be measured; the others are measured
// all the same.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { adopt, adoptMoves } from './adopt.js';
import { clusterLedger, clusterTakeover } from './cluster.js';
import { confirm, confirmSlow, confirmUnlimited } from './confirm.js';
import { daemonBulk, daemonLatency, daemonStart } from './daemon.js';
import { renewInPlace, tagsInPlace } from './in-place.js';
import { largeFile } from './large-file.js';
import { daemonBurstMemory, firstPassMemory } from './memory.js';
import { nothingChanged } from './nothing-changed.js';
import {
  rateAlone,
  rateFour,
  rateFourSilent,
  rateRival,
  rateSilent,
  rateTwo,
  rateUntold,
} from './rate-limited.js';
import { page } from './page.js';
import { removals } from './removals.js';
import { slowLine } from './slow-line.js';
import { slowBeside, slowStore } from './slow-store.js';
import { smallFiles } from './small-files.js';
import { verify } from './verify.js';
import { watchMisses, watchStart } from './watching.js';

const benchmarks = {
  'small-files': smallFiles,
  'large-file': largeFile,
  'nothing-changed-100k': () => nothingChanged(100_000, 4),
  'nothing-changed-500k': () => nothingChanged(500_000, 3),
  ...{ 'first-pass-memory': firstPassMemory, 'daemon-burst-memory': daemonBurstMemory },
  'daemon-latency': daemonLatency,
  'daemon-start': daemonStart,
  'daemon-bulk': daemonBulk,
  'rate-alone': rateAlone,
  'rate-two': rateTwo,
  'rate-four': rateFour,
  'rate-four-silent': rateFourSilent,
  'rate-rival': rateRival,
  'rate-untold': rateUntold,
  'rate-silent': rateSilent,
  'cluster-ledger': clusterLedger,
  'cluster-takeover': clusterTakeover,
  'slow-line': slowLine,
  'slow-store': slowStore,
  'slow-beside': slowBeside,
  removals,
  adopt,
  'adopt-moves': adoptMoves,
  'tags-in-place': tagsInPlace,
  'renew-in-place': renewInPlace,
  confirm,
  'confirm-slow': confirmSlow,
  'confirm-unlimited': confirmUnlimited,
  page,
  verify,
  'watch-misses': watchMisses,
  'watch-start': watchStart,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benchmarks));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known: ${Object.keys(benchmarks).join(', ')}`);
  process.exit(2);
}

const file = new URL('results/latest.json', import.meta.url);
const results = [];
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  let result;
  try {
    result = await benchmark();
  } catch (error) {
    console.log(`\n${name} could not be measured: ${error.message}`);
    process.exitCode = 1;
    continue;
  }
  results.push(result);
  console.log(`\n${result.name}`);
  for (const [what, value] of Object.entries(result.figures))
    console.log(`  ${what.padEnd(36)}${typeof value === 'number' ? value.toFixed(2) : value}`);
  for (const { what, value, relation, bound, unit, holds } of result.rows) {
    console.log(
      `  ${what.padEnd(36)}${value} ${unit} (${relation} ${bound}) ${holds ? 'holds' : 'DOES NOT HOLD'}`,
    );
  }
}

const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown' };
mkdirSync(new URL('.', file), { recursive: true });
const others = earlier().filter(({ name }) => !results.some((result) => result.name === name));
const date = new Date().toISOString();
const measured = results.map((result) => ({ ...result, date, machine }));
writeFileSync(file, `${JSON.stringify([...others, ...measured], null, 2)}\n`);
if (results.some(({ rows }) => rows.some(({ holds }) => !holds))) process.exitCode = 1;

/** What other benchmarks left on an earlier run. */
function earlier() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}
