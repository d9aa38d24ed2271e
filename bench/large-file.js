// One file of 1 GiB against `curl -T`, and the memory it takes; the memory again at 4 GiB.
import { randomFillSync } from 'node:crypto';
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, row, run, sync, withScratch, withServer, writeConfig } from './measure.js';

const GIB = 2 ** 30;
const ROUNDS = 3;

export async function largeFile() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      const file = join(directory, 'docs', 'video.bin');
      mkdirSync(join(directory, 'docs'));
      writeConfig(directory, { platform: { baseUrl }, limits: { fileBytes: 5 * GIB } });
      const measure = () => {
        rmSync(join(directory, '.botsync'), { recursive: true, force: true });
        return sync(directory, '1 uploaded');
      };
      writeRandom(file, GIB);
      const ours = [];
      const curl = [];
      for (let round = 0; round < ROUNDS; round++) {
        ours.push(await measure());
        const args = [
          '--silent',
          '--fail',
          '-o',
          '/dev/null',
          '-H',
          'Expect:',
          '-T',
          file,
          await uploadAddress(baseUrl),
        ];
        curl.push((await run('curl', args)).seconds);
      }
      truncateSync(file, 4 * GIB); // sparse beyond the first
      const four = await measure();
      const seconds = median(ours.map((one) => one.seconds));
      const peak = Math.max(...ours.map((one) => one.peakMegabytes));
      return {
        name: 'one file of 1 GiB',
        figures: { 'botsync MB/s': GIB / 1e6 / seconds, 'curl -T MB/s': GIB / 1e6 / median(curl) },
        rows: [
          row('rate against curl -T', median(curl) / seconds, '>=', 0.7, 'times'),
          row('peak memory at 1 GiB', peak, '<=', 150, 'MB'),
          row('peak memory at 4 GiB', four.peakMegabytes, '<=', 150, 'MB'),
        ],
      };
    }),
  );
}

function writeRandom(file, sizeBytes) {
  const block = Buffer.alloc(2 ** 24);
  writeFileSync(file, '');
  for (let at = 0; at < sizeBytes; at += block.length) appendFileSync(file, randomFillSync(block));
}

/** An upload address, as an upsert answers it. */
async function uploadAddress(baseUrl) {
  const headers = { authorization: 'Bearer bench', 'content-type': 'application/json' };
  const answer = await fetch(`${baseUrl}/v1/files`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ key: 'video.bin', size: GIB }),
  });
  return (await answer.json()).file.uploadUrl;
}
