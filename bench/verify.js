// Comparing all that the bot has with what is on record, against a loop that only pages through the same list.
import { setTimeout as delay } from 'node:timers/promises';
import {
  botsync,
  makeTree,
  median,
  row,
  runNode,
  seedFiles,
  setConditions,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 100_000;
const PAGE_SIZE = 100;
const ROUNDS = 3;
/** What a page takes at least where the platform allows 100 requests a second. */
const PACED_MS = 10;
const VERIFY = [botsync, 'verify', '--log-level', 'warn'];

export function verify() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      const contentOf = (n) => `article ${n}\n`;
      const keys = makeTree(directory, FILES, contentOf);
      await delay(2500);
      writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: 64 } });
      await setConditions(baseUrl, { keep: true });
      await seedFiles(baseUrl, keys, contentOf, { contentType: 'text/markdown' });
      await sync(directory, 'In sync');
      const atOnce = await against(baseUrl, directory, 0);
      const paced = await against(baseUrl, directory, PACED_MS);
      await noticesOneMissing(baseUrl, directory, keys[FILES / 2]);
      return {
        name: `verify over ${FILES.toLocaleString('en')} files`,
        figures: {
          'verify s': atOnce.seconds.verify,
          'loop s': atOnce.seconds.loop,
          [`verify s, ${PACED_MS} ms an answer`]: paced.seconds.verify,
          [`loop s, ${PACED_MS} ms an answer`]: paced.seconds.loop,
        },
        rows: [
          row('time against the loop', atOnce.times, '<=', 1.3, 'times'),
          row(`the same, ${PACED_MS} ms an answer`, paced.times, '<=', 1.3, 'times'),
          row('peak memory', Math.max(atOnce.peakMegabytes, paced.peakMegabytes), '<=', 150, 'MB'),
        ],
      };
    }),
  );
}

async function against(baseUrl, directory, answerDelayMs) {
  await setConditions(baseUrl, { keep: true, answerDelayMs });
  const loop = new URL('contenders/page-through.js', import.meta.url).pathname;
  const measured = { loop: [], verify: [] };
  for (let round = 0; round < ROUNDS; round++) {
    measured.loop.push(await runNode([loop, baseUrl, PAGE_SIZE]));
    measured.verify.push(await runNode(VERIFY, { cwd: directory }));
  }
  const seconds = {
    loop: median(measured.loop.map((one) => one.seconds)),
    verify: median(measured.verify.map((one) => one.seconds)),
  };
  const peakMegabytes = Math.max(...measured.verify.map((one) => one.peakMegabytes));
  return { seconds, times: seconds.verify / seconds.loop, peakMegabytes };
}

/** Throws unless what was timed notices that one file of all is missing there. */
async function noticesOneMissing(baseUrl, directory, key) {
  await setConditions(baseUrl, { keep: true });
  await fetch(`${baseUrl}/v1/files/${encodeURIComponent(key)}`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer bench', 'x-bot-id': 'bench' },
  });
  await runNode(VERIFY, { cwd: directory, expectedCode: 3 });
}
