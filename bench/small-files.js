// 5,000 files of 4 KiB over 16 connections: botsync, the official client in a loop, a bare undici loop.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { botsync, makeTree, median, row, run, withScratch, withServer, writeConfig } from './measure.js';

const FILES = 5000;
const BYTES = 4096;
const CONNECTIONS = 16;
const ROUNDS = 3;

export async function smallFiles() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      makeTree(directory, FILES, () => randomBytes(BYTES));
      writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: CONNECTIONS } });
      const here = (name) => new URL(`contenders/${name}`, import.meta.url).pathname;
      const seconds = { botsync: [], reading: [], memory: [], client: [] };
      for (let round = 0; round < ROUNDS; round++) {
        rmSync(join(directory, '.botsync'), { recursive: true, force: true });
        const synced = await run(process.execPath, [botsync, 'sync', '--once', '--log-level', 'warn'], {
          cwd: directory,
        });
        if (!synced.output.includes(`${FILES.toLocaleString('en')} uploaded`)) throw new Error(synced.output);
        seconds.botsync.push(synced.seconds);
        const docs = join(directory, 'docs');
        for (const [name, from] of [
          ['reading', 'read'],
          ['memory', 'memory'],
        ]) {
          const loop = [here('undici-loop.js'), baseUrl, docs, CONNECTIONS, from];
          seconds[name].push((await run(process.execPath, loop)).seconds);
        }
        const client = await run(process.execPath, [
          here('official-client.js'),
          baseUrl,
          join(directory, 'docs'),
          CONNECTIONS,
        ]);
        seconds.client.push(client.seconds);
      }
      const rate = (name) => FILES / median(seconds[name]);
      return {
        name: `${FILES} files of 4 KiB, ${CONNECTIONS} connections`,
        figures: {
          'botsync files/s': rate('botsync'),
          'undici loop over the files files/s': rate('reading'),
          'undici loop from memory files/s': rate('memory'),
          '@botpress/client files/s': rate('client'),
        },
        rows: [
          row('rate against @botpress/client', rate('botsync') / rate('client'), '>=', 2.5, 'times'),
          row('rate against an undici loop', rate('botsync') / rate('reading'), '>=', 0.7, 'times'),
        ],
      };
    }),
  );
}
