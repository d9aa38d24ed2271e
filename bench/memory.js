// Memory where the most is sent: a first pass over a large tree, and the daemon while a package manager fills a directory.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTree, row, sync, withDaemon, withScratch, withServer, writeConfig } from './measure.js';

const FILES = 200_000;
const BURST_FILES = 43_000;
const CONNECTIONS = 16;

/** Everything is new, and is sent. */
export function firstPassMemory() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      makeTree(directory, FILES, (n) => `article ${n}\n`);
      writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: CONNECTIONS } });
      const { seconds, peakMegabytes } = await sync(directory, `${FILES.toLocaleString('en')} uploaded`);
      return {
        name: `a first pass over ${FILES.toLocaleString('en')} files`,
        figures: { seconds, 'files/s': FILES / seconds },
        rows: [row('peak memory', peakMegabytes, '<=', 150, 'MB')],
      };
    }),
  );
}

/** `npm install` in a watched directory: 50 files a package, one package after the other. */
export function daemonBurstMemory() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      makeTree(directory, 1000, (n) => `article ${n}\n`);
      writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: CONNECTIONS } });
      const { seconds, peakMegabytes } = await withDaemon(directory, async () => {
        const before = await countRequests(baseUrl);
        const began = performance.now();
        for (let n = 0; n < BURST_FILES; n++) {
          const parent = join(directory, 'docs', 'node_modules', `package-${Math.floor(n / 50)}`, 'lib');
          if (n % 50 === 0) mkdirSync(parent, { recursive: true });
          writeFileSync(join(parent, `module-${n % 50}.js`), `new ${n}\n`.repeat(1 + (n % 300)));
          // A package manager unpacks what it downloads.
          if (n % 50 === 49) await delay(10);
        }
        while ((await countRequests(baseUrl)) - before < BURST_FILES * 2) await delay(100);
        return { seconds: (performance.now() - began) / 1000 };
      });
      return {
        name: `${BURST_FILES.toLocaleString('en')} new files beside the daemon`,
        figures: { seconds },
        rows: [row('peak memory', peakMegabytes, '<=', 200, 'MB')],
      };
    }),
  );
}

async function countRequests(baseUrl) {
  return Number(await (await fetch(`${baseUrl}/requests`)).text());
}
