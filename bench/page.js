// The page of a daemon over 100,000 files: its size and time, what open pages cost at rest, and what they cost sending.
import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  makeTree,
  median,
  processorSeconds,
  row,
  sync,
  withDaemon,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 100_000;
const NEW_FILES = 3000;
const ROUNDS = 3;
const REST_SECONDS = 60;

/** Pages that are open: as many as a team has, and as many as an office forgets. */
const WATCHING = 5;
const RESTING = 50;

export function page() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      const port = await freePort();
      const address = `http://127.0.0.1:${port}/`;
      makeTree(directory, FILES, (n) => `article ${n}\n`, 100);
      await delay(2500);
      writeConfig(directory, {
        platform: { baseUrl },
        upload: { concurrency: 16 },
        service: { listen: `127.0.0.1:${port}` },
      });
      await sync(directory, `${FILES.toLocaleString('en')} uploaded`);
      const measured = await withDaemon(directory, async ({ pid }) => {
        await delay(5000);
        const documents = [];
        for (let n = 0; n < 10; n++) documents.push(await load(address));
        const alone = [];
        const rest = await partOfCore(pid);
        const resting = await whileOpen(address, RESTING, async () => {
          // The pages have what there is.
          await delay(20_000);
          return await partOfCore(pid);
        });
        const watched = [];
        for (let round = 0; round < ROUNDS; round++) {
          alone.push(await timeSending(directory, baseUrl, `alone-${round}`));
          watched.push(
            await whileOpen(address, WATCHING, () => timeSending(directory, baseUrl, `watched-${round}`)),
          );
        }
        return { documents, added: resting - rest, alone, watched };
      });
      const { documents, added, alone, watched } = measured;
      return {
        name: `the page, ${FILES.toLocaleString('en')} files`,
        figures: {
          'first page ms': documents[0].ms,
          [`${NEW_FILES} new files s`]: median(alone),
          [`the same, ${WATCHING} pages s`]: median(watched),
        },
        rows: [
          row('size', documents[0].bytes / 1000, '<=', 200, 'kB'),
          row('time', median(documents.map(({ ms }) => ms)), '<=', 100, 'ms'),
          row(`${RESTING} open pages at rest, part of a core added`, added * 100, '<=', 2, '%'),
          row(
            `sending, ${WATCHING} open pages against none`,
            median(watched) / median(alone),
            '<=',
            1.15,
            'times',
          ),
        ],
      };
    }),
  );
}

async function load(address) {
  const began = performance.now();
  const text = await (await fetch(address)).text();
  return { bytes: Buffer.byteLength(text), ms: performance.now() - began };
}

/** Keeps so many pages up to date meanwhile, as browsers do. */
async function whileOpen(address, count, action) {
  const requests = Array.from({ length: count }, () =>
    get(new URL('events', address), (response) => response.resume()).on('error', () => undefined),
  );
  await delay(3000);
  try {
    return await action();
  } finally {
    for (const request of requests) request.destroy();
  }
}

async function partOfCore(pid) {
  const before = processorSeconds(pid);
  await delay(REST_SECONDS * 1000);
  return (processorSeconds(pid) - before) / REST_SECONDS;
}

/** Seconds until new files in a directory of their own have been sent. */
async function timeSending(directory, baseUrl, name) {
  const before = await requestsSoFar(baseUrl);
  const parent = join(directory, 'docs', name);
  mkdirSync(parent);
  for (let n = 0; n < NEW_FILES; n++) writeFileSync(join(parent, `new-${n}.md`), `${name} ${n}\n`);
  const began = performance.now();
  // Each takes an upsert and an upload.
  while ((await requestsSoFar(baseUrl)) - before < 2 * NEW_FILES) await delay(20);
  const seconds = (performance.now() - began) / 1000;
  await delay(3000);
  return seconds;
}

async function requestsSoFar(baseUrl) {
  return Number(await (await fetch(`${baseUrl}/requests`)).text());
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
