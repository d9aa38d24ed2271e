// A store that takes its bytes slowly, and only a few kilobytes ahead; over TLS, as stores are reached.
import { mkdirSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  beginSync,
  makeTree,
  row,
  setConditions,
  untilTally,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const BYTES_PER_SECOND = 10_000;
const SLOW_FILES = 12;
const SLOW_BYTES = 120_000;

/** 12 files of 120 KB through 10 KB/s in all: whether each arrives, and how many are begun in vain. */
export function slowStore() {
  const idealSeconds = (SLOW_FILES * SLOW_BYTES) / BYTES_PER_SECOND;
  return onSlowStore(async (directory, baseUrl) => {
    plant(directory, SLOW_FILES, SLOW_BYTES);
    await setConditions(baseUrl, { slowStore: { bytesPerSecond: BYTES_PER_SECOND } });
    const { child, ended } = beginSync(directory);
    let isOver = false;
    void ended.then(() => (isOver = true));
    const tally = await untilTally(baseUrl, () => isOver, idealSeconds * 1.5);
    child.kill('SIGKILL');
    await ended;
    const { uploads, completed, nowMs } = tally;
    return {
      name: `${SLOW_FILES} files of ${SLOW_BYTES / 1000} KB through ${BYTES_PER_SECOND / 1000} KB/s in all`,
      figures: { seconds: nowMs / 1000, 'ideal seconds': idealSeconds, 'MB received': uploads.bytes / 1e6 },
      rows: [
        row('files that arrived', Object.keys(completed).length, '>=', SLOW_FILES, ''),
        row('uploads begun', uploads.begun, '<=', SLOW_FILES + 2, ''),
      ],
    };
  });
}

const SMALL_FILES = 400;

/** 400 small files, alone and behind four of 600 KB that take minutes. */
export async function slowBeside() {
  const alone = await smallSeconds(0);
  const beside = await smallSeconds(4);
  return {
    name: `${SMALL_FILES} small files beside four slow ones, 20 ms an answer`,
    figures: { 'alone s': alone, 'beside s': beside },
    rows: [row('time against alone', beside / alone, '<=', 1.5, 'times')],
  };
}

/** From the first request to the end of the last small upload, at most a minute. */
function smallSeconds(slowFiles) {
  return onSlowStore(async (directory, baseUrl) => {
    plant(directory, slowFiles, 600_000);
    makeTree(directory, SMALL_FILES, (n) => `article ${n}\n`);
    const slow = { bytesPerSecond: BYTES_PER_SECOND, keyPrefix: 'a-slow/' };
    await setConditions(baseUrl, { answerDelayMs: 20, slowStore: slow });
    const { child, ended } = beginSync(directory);
    const small = ({ completed }) => Object.entries(completed).filter(([key]) => key.startsWith('section'));
    const tally = await untilTally(baseUrl, (seen) => small(seen).length === SMALL_FILES, 60);
    child.kill('SIGKILL');
    await ended;
    const done = small(tally);
    const endMs = done.length < SMALL_FILES ? tally.nowMs : Math.max(...done.map(([, ms]) => ms));
    return (endMs - tally.clients[''].admitted[0]) / 1000;
  });
}

function onSlowStore(action) {
  return withScratch((directory) =>
    withServer(
      (baseUrl) => {
        writeConfig(directory, { platform: { baseUrl } });
        return action(directory, baseUrl);
      },
      { smallBuffer: true, tls: true },
    ),
  );
}

/** Files that stand before all others, so that they are begun first. */
function plant(directory, files, sizeBytes) {
  const parent = join(directory, 'docs', 'a-slow');
  mkdirSync(parent, { recursive: true });
  for (let n = 0; n < files; n++) writeFileSync(join(parent, `slow-${n}.bin`), randomBytes(sizeBytes));
}
