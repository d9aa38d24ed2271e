// A pass over a tree in which nothing changed, against `find` reading the same attributes.
import { setTimeout as delay } from 'node:timers/promises';
import { makeTree, median, row, run, sync, withScratch, withServer, writeConfig } from './measure.js';

const ROUNDS = 5;

export async function nothingChanged(files, mostTimes) {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      makeTree(directory, files, (n) => `article ${n}\n`);
      // Records are trusted when the files were at rest for two seconds before they were read.
      await delay(2500);
      writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: 64 } });
      const count = files.toLocaleString('en');
      await sync(directory, `${count} uploaded`);
      const before = await countRequests(baseUrl);
      const ours = [];
      const find = [];
      const format = '%p\\0%s\\0%T@\\0%C@\\0%i\\n';
      for (let round = 0; round < ROUNDS; round++) {
        find.push((await run('find', ['docs', '-type', 'f', '-printf', format], { cwd: directory })).seconds);
        ours.push(await sync(directory, `${count} unchanged`));
      }
      const requests = (await countRequests(baseUrl)) - before;
      const seconds = median(ours.map((one) => one.seconds));
      return {
        name: `${files} files, nothing changed`,
        figures: { 'botsync s': seconds, 'find s': median(find) },
        rows: [
          row('requests', requests, '<=', 0, ''),
          row('time against find', seconds / median(find), '<=', mostTimes, 'times'),
          row('peak memory', Math.max(...ours.map((one) => one.peakMegabytes)), '<=', 150, 'MB'),
        ],
      };
    }),
  );
}

async function countRequests(baseUrl) {
  return Number(await (await fetch(`${baseUrl}/requests`)).text());
}
