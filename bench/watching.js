// Watching a tree, ours against chokidar 5, and against chokidar 6 where that is installed: directories that are not told
// of any more after random steps, and what it costs to begin. See docs/decisions/0012-watches-of-our-own.md.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { row, withScratch } from './measure.js';

const STEPS = 300;
const SEEDS = 10;
const NAMES = ['a', 'b', 'c', 'd'];
const contender = new URL('contenders/tell-changes.js', import.meta.url).pathname;

/** After random steps in real time, one more file in every directory: how many are not told of. */
export function watchMisses() {
  return withContenders(async (contenders, directory) => {
    const figures = {};
    let ours = 0;
    for (const [name, file] of contenders) {
      let missed = 0;
      let all = 0;
      for (let seed = 1; file !== null && seed <= SEEDS; seed++) {
        const found = await countMissed(file, join(directory, `${name} ${seed}`), seed);
        missed += found.missed;
        all += found.all;
      }
      figures[`${name}: not told of`] = file === null ? SKIPPED : `${missed} of ${all}`;
      if (name === 'ours') ours = missed;
    }
    return {
      name: `directories not told of after ${STEPS} random steps`,
      figures,
      rows: [row('ours', ours, '<=', 0, '')],
    };
  });
}

/** Until 10,000 directories with 50,000 files are watched. */
export function watchStart() {
  return withContenders(async (contenders, directory) => {
    const root = join(directory, 'tree');
    for (let n = 0; n < 10_000; n++) {
      const parent = join(root, `${Math.floor(n / 100)}`, `${n % 100}`);
      mkdirSync(parent, { recursive: true });
      for (let file = 0; file < 5; file++) writeFileSync(join(parent, `${file}.md`), '');
    }
    const figures = {};
    const measured = {};
    for (const [name, file] of contenders) {
      if (file === null) {
        figures[name] = SKIPPED;
        continue;
      }
      const beganMs = performance.now();
      const teller = startTeller(file, root);
      await teller.ready;
      const seconds = (performance.now() - beganMs) / 1000;
      measured[name] = { seconds, megabytes: await teller.end() };
      figures[`${name}: ready s`] = seconds;
      figures[`${name}: peak MB`] = measured[name].megabytes;
    }
    const { ours, 'chokidar 5': five } = measured;
    return {
      name: '10,000 directories with 50,000 files, watched',
      figures,
      rows: [
        row('ready against chokidar 5', ours.seconds / five.seconds, '<=', 1, 'times'),
        row('memory against chokidar 5', ours.megabytes / five.megabytes, '<=', 1, 'times'),
      ],
    };
  });
}

const SKIPPED =
  'SKIPPED: not installed (npm install --no-save chokidar-6@npm:chokidar@6, Node 22.22 and newer)';

/** Runs something with the modules of all contenders, by name; `null` for one that is not installed. */
function withContenders(action) {
  return withScratch(async (directory) => {
    const ours = join(directory, 'ours.mjs');
    const contents =
      "export { TreeWatcher } from './src/files/watch-tree.ts'; export { systemClock } from './src/service/system-clock.ts';";
    await build({
      stdin: { contents, resolveDir: new URL('..', import.meta.url).pathname, loader: 'ts' },
      ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20.19', outfile: ours },
    });
    return action(
      [
        ['ours', ours],
        ['chokidar 5', find('chokidar')],
        ['chokidar 6', find('chokidar-6')],
      ],
      directory,
    );
  });
}

function find(name) {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}

async function countMissed(file, root, seed) {
  const tree = join(root, 'tree');
  const outside = join(root, 'outside');
  for (const at of ['a/b/c', 'b/a/c', 'c/c/c/d', 'd']) mkdirSync(join(tree, at), { recursive: true });
  mkdirSync(outside);
  const teller = startTeller(file, tree);
  await teller.ready;
  const random = randomOf(seed);
  for (let n = 0; n < STEPS; n++) {
    try {
      step(random, tree, outside, n);
    } catch {
      // Not possible as things are.
    }
    // Some at once, some after a while.
    if (random() < 0.3) await delay(Math.floor(random() * 20));
  }
  await delay(3000);
  teller.told.clear();
  const directories = readdirSync(tree, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1));
  const added = ['one-more', ...directories.map((at) => `${at}/one-more`)];
  for (const path of added) writeFileSync(join(tree, path), '');
  await delay(3000);
  await teller.end();
  return { missed: added.filter((path) => !teller.told.has(path)).length, all: added.length };
}

/** Makes, moves and removes directories; few names, so that they replace each other. */
function step(random, tree, outside, n) {
  const pick = () =>
    join(
      tree,
      ...Array.from({ length: 1 + Math.floor(random() * 4) }, () => NAMES[Math.floor(random() * 4)]),
    );
  const [here, there] = [pick(), pick()];
  const what = Math.floor(random() * 8);
  if (what < 3) mkdirSync(here, { recursive: true });
  else if (what < 5) renameSync(here, there);
  else if (what === 5) rmSync(here, { recursive: true });
  else if (what === 6) {
    mkdirSync(dirname(here), { recursive: true });
    writeFileSync(join(dirname(here), 'file'), String(n));
  } else {
    renameSync(here, join(outside, String(n)));
    mkdirSync(here);
  }
}

function startTeller(file, root) {
  const child = spawn(process.execPath, [contender, file, root], { stdio: ['pipe', 'pipe', 'inherit'] });
  const told = new Set();
  let peak = 0;
  const ended = new Promise((resolve) => child.once('close', resolve));
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
      else if (line.startsWith('peak ')) peak = Number(line.slice(5));
      else told.add(line);
    });
    child.once('close', () => reject(new Error(`${file} ended before it was ready`)));
  });
  const end = async () => {
    child.stdin.end();
    await ended;
    return peak;
  };
  return { ready, told, end };
}

/** Numbers from 0 to 1, the same for a seed each time (mulberry32). */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
