// The running daemon: how soon a change is on the platform, how soon it is up, what it costs when nothing happens.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  countWatches,
  makeTree,
  median,
  processorSeconds,
  row,
  run,
  sync,
  withDaemon,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const SETTLE_MS = 500;
const EDITS = 100;
const KEY = 'section-0/topic-0/article-0.md';

/** From the write of one small file to the end of its upload, in a small tree and in a large one. */
export async function daemonLatency() {
  const small = await latencies(200);
  const large = await latencies(200_000);
  const median50 = median(large);
  const last99 = [...large].sort((a, b) => a - b)[Math.floor(large.length * 0.99)];
  return {
    name: 'one small edit, daemon idle, 200,000 files',
    figures: { 'median ms, 200 files': median(small), 'median ms, 200,000 files': median50 },
    rows: [
      row('median beyond settle', median50 - SETTLE_MS, '<=', 60, 'ms'),
      row('99th percentile beyond settle', last99 - SETTLE_MS, '<=', 250, 'ms'),
      row('large tree against small', median50 / median(small), '<=', 1.3, 'times'),
    ],
  };
}

function latencies(files) {
  return withScratch((directory) =>
    withServer(async (baseUrl, server) => {
      await prepare(directory, baseUrl, files, 100);
      const { measured } = await withDaemon(directory, async () => {
        const measured = [];
        for (let n = 0; n < EDITS; n++) {
          measured.push(await timeEdit(directory, server, `edit ${n}\n`));
          await delay(20 * (n % 7));
        }
        return { measured };
      });
      return measured;
    }),
  );
}

/** Milliseconds from an edit to the end of its upload. */
async function timeEdit(directory, server, text) {
  server.send({ watch: KEY });
  const arrived = new Promise((resolve) => {
    server.on('message', function hear({ key, size, endedNs }) {
      if (key !== KEY || size !== Buffer.byteLength(text)) return;
      server.off('message', hear);
      resolve(BigInt(endedNs));
    });
  });
  const began = process.hrtime.bigint();
  writeFileSync(join(directory, 'docs', KEY), text);
  return Number((await arrived) - began) / 1e6;
}

/** Up on 100,000 unchanged files in 10,000 directories, against chokidar on the directories alone; then idle. */
export function daemonStart() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      await prepare(directory, baseUrl, 100_000, 10);
      const contender = new URL('contenders/chokidar-directories.js', import.meta.url).pathname;
      const chokidar = [];
      const ours = [];
      for (let round = 0; round < 5; round++) {
        chokidar.push((await run(process.execPath, [contender, 'docs'], { cwd: directory })).seconds);
        ours.push(
          await withDaemon(directory, async ({ seconds, pid }) => {
            const watches = countWatches(pid);
            if (round > 0) return { seconds, watches };
            const before = processorSeconds(pid);
            await delay(60_000);
            return { seconds, watches, idle: (processorSeconds(pid) - before) / 60 };
          }),
        );
      }
      const seconds = median(ours.map((one) => one.seconds));
      // 10,000 with files, 100 sections, and the source itself.
      const directories = 10_101;
      // The configuration, and the directories above it.
      const others = 1 + directory.split('/').length;
      return {
        name: '100,000 unchanged files in 10,000 directories, daemon',
        figures: { 'ready s': seconds, 'chokidar s': median(chokidar) },
        rows: [
          row('ready against chokidar', seconds / median(chokidar), '<=', 2.5, 'times'),
          row('peak memory', Math.max(...ours.map((one) => one.peakMegabytes)), '<=', 200, 'MB'),
          row('watches', ours[0].watches, '<=', directories + others, ''),
          row('idle, part of a core', ours[0].idle * 100, '<=', 0.5, '%'),
        ],
      };
    }),
  );
}

/** While 20,000 new files are being sent, an edit of another one. */
export function daemonBulk() {
  return withScratch((directory) =>
    withServer(async (baseUrl, server) => {
      await prepare(directory, baseUrl, 1000, 100);
      const { slowest, share } = await withDaemon(directory, async () => {
        const before = await countRequests(baseUrl);
        for (let n = 0; n < 20_000; n++) {
          const parent = join(directory, 'docs', `bulk-${Math.floor(n / 200)}`);
          if (n % 200 === 0) mkdirSync(parent);
          writeFileSync(join(parent, `new-${n % 200}.md`), `new ${n}\n`);
        }
        while ((await countRequests(baseUrl)) - before < 1000) await delay(10);
        const times = [];
        for (let n = 0; (await countRequests(baseUrl)) - before < 36_000; n++)
          times.push(await timeEdit(directory, server, `edit number ${n}\n`));
        return { slowest: Math.max(...times), share: times.length };
      });
      return {
        name: '20,000 new files being sent, an edit of another',
        figures: { 'edits measured': share },
        rows: [row('slowest edit', slowest / 1000, '<=', 2, 's')],
      };
    }),
  );
}

async function prepare(directory, baseUrl, files, perDirectory) {
  makeTree(directory, files, (n) => `article ${n}\n`, perDirectory);
  await delay(2500);
  writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: 16 } });
  await sync(directory, `${files.toLocaleString('en')} uploaded`);
}

async function countRequests(baseUrl) {
  return Number(await (await fetch(`${baseUrl}/requests`)).text());
}
