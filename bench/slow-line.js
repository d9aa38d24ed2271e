// A line on which every answer takes 80 ms, over TLS: only the number of requests under way counts, and how fast one follows
// the other.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  makeTree,
  median,
  row,
  runNode,
  setConditions,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 1000;
const CONNECTIONS = 16;
const ANSWER_DELAY_MS = 80;
const ROUNDS = 2;

export function slowLine() {
  return withScratch((directory) => withServer((baseUrl) => measure(directory, baseUrl), { tls: true }));
}

async function measure(directory, baseUrl) {
  makeTree(directory, FILES, (n) => `article ${n}\n`);
  writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: CONNECTIONS } });
  await setConditions(baseUrl, { answerDelayMs: ANSWER_DELAY_MS });
  const contender = new URL('contenders/undici-loop.js', import.meta.url).pathname;
  const seconds = { botsync: [], loop: [] };
  for (let round = 0; round < ROUNDS; round++) {
    rmSync(join(directory, '.botsync'), { recursive: true, force: true });
    seconds.botsync.push((await sync(directory, `${FILES.toLocaleString('en')} uploaded`)).seconds);
    const loop = [contender, baseUrl, join(directory, 'docs'), CONNECTIONS, 'read'];
    seconds.loop.push((await runNode(loop)).seconds);
  }
  const rate = (name) => FILES / median(seconds[name]);
  return {
    name: `${FILES} small files, ${ANSWER_DELAY_MS} ms an answer, ${CONNECTIONS} connections`,
    figures: { 'botsync files/s': rate('botsync'), 'undici loop files/s': rate('loop') },
    rows: [row('rate against an undici loop', rate('botsync') / rate('loop'), '>=', 0.9, 'times')],
  };
}
