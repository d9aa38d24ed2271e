// One file of 1 GiB against `curl -T`, and the memory it takes; the memory again at 4 GiB.
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
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
      const measure = async (sizeBytes) => {
        writeFileSync(file, '');
        truncateSync(file, sizeBytes);
        rmSync(join(directory, '.botsync'), { recursive: true, force: true });
        const synced = await sync(directory);
        if (synced.summary.bytes !== sizeBytes) throw new Error(JSON.stringify(synced.summary));
        return synced;
      };
      const ours = [];
      const curl = [];
      for (let round = 0; round < ROUNDS; round++) {
        ours.push(await measure(GIB));
        const args = ['--silent', '--fail', '-o', '/dev/null', '-H', 'Expect:', '-T', file, `${baseUrl}/upload/video.bin`];
        curl.push((await run('curl', args)).seconds);
      }
      const four = await measure(4 * GIB);
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
