// Small files over 16 connections: botsync, the official client in a loop, a bare undici loop, rclone to a bucket. What
// counts is the processor time of the whole process: here the line costs nothing, and how long it takes says how many
// processors there are.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  makeTree,
  median,
  programSeconds,
  row,
  runNode,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 20_000;
const BYTES = 4096;
const CONNECTIONS = 16;
const ROUNDS = 3;

export async function smallFiles() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      makeTree(directory, FILES, () => randomBytes(BYTES));
      writeConfig(directory, { platform: { baseUrl }, upload: { concurrency: CONNECTIONS } });
      const docs = join(directory, 'docs');
      const contender = (name, ...more) =>
        runNode([
          new URL(`contenders/${name}`, import.meta.url).pathname,
          baseUrl,
          docs,
          CONNECTIONS,
          ...more,
        ]);
      const measured = { botsync: [], loop: [], client: [] };
      for (let round = 0; round < ROUNDS; round++) {
        rmSync(join(directory, '.botsync'), { recursive: true, force: true });
        measured.botsync.push(await sync(directory, `${FILES.toLocaleString('en')} uploaded`));
        measured.loop.push(await contender('undici-loop.js', 'read'));
      }
      // So slow that once has to do.
      measured.client.push(await contender('official-client.js'));
      const rclone = await programSeconds('rclone', rcloneArguments(docs, baseUrl), { cwd: directory });
      const rate = (name) => FILES / median(measured[name].map((one) => one.seconds));
      const processor = (name) => median(measured[name].map((one) => one.processorSeconds)) / (FILES / 1000);
      return {
        name: `${FILES} files of 4 KiB, ${CONNECTIONS} connections`,
        figures: {
          'botsync files/s': rate('botsync'),
          'undici loop files/s': rate('loop'),
          '@botpress/client files/s': rate('client'),
          'botsync CPU s/1,000 files': processor('botsync'),
          'undici loop CPU s/1,000 files': processor('loop'),
          '@botpress/client CPU s/1,000 files': processor('client'),
          'rclone CPU s/1,000 files': rclone === null ? 'not installed' : rclone / (FILES / 1000),
        },
        rows: [
          row('CPU against an undici loop', processor('botsync') / processor('loop'), '<=', 2, 'times'),
          row(
            'CPU of @botpress/client against',
            processor('client') / processor('botsync'),
            '>=',
            2,
            'times',
          ),
        ],
      };
    }),
  );
}

/** Copies to a bucket without looking what is there: one request a file, where the others need two. */
function rcloneArguments(docs, baseUrl) {
  const bucket = `:s3,provider=Other,access_key_id=bench,secret_access_key=bench,endpoint="${baseUrl}":bucket`;
  const unasked = ['--no-check-dest', '--s3-no-head', '--s3-no-check-bucket', '--config', '/dev/null'];
  return ['copy', docs, bucket, '--transfers', String(CONNECTIONS), '--retries', '1', ...unasked];
}
