// Files that take seconds to be indexed: what asking for them costs beside sending them, and how soon it is known that
// the bot can search them. Side by side with the same pass when it asks for nothing (platform.operations "specified").
import { join } from 'node:path';
import {
  countRequests,
  forgetRecords,
  makeTree,
  median,
  readTally,
  row,
  setConditions,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 10_000;
const COUNT = FILES.toLocaleString('en');
const INDEXING_MS = 2000;
const SLOW_INDEXING_MS = 20_000;
const ROUNDS = 3;

/**
 * At the rate that the platform grants, where asking takes requests from the files: each pass has a server to itself, and
 * both go on at the same time, since neither has much to do.
 */
export function confirm() {
  return atTheRate(INDEXING_MS, 3);
}

/** The same where indexing takes so long that most files wait for it while others are still to be sent. */
export function confirmSlow() {
  return atTheRate(SLOW_INDEXING_MS, 20);
}

function atTheRate(indexingMs, longestLagSeconds) {
  return withMirrors(async (askedFor, notAskedFor) => {
    const conditions = { indexingMs, rateLimit: { requests: 100 } };
    const [asking, silent] = await Promise.all([pass(askedFor, conditions), pass(notAskedFor, conditions)]);
    return compare('100 requests/s', indexingMs, longestLagSeconds, [asking], [silent]);
  });
}

/**
 * As fast as both sides can, one pass after the other: whether asking keeps up. Here it takes processor time from the
 * files, and on a noisy machine the same pass differs by more than 5 % from one run to the next.
 */
export function confirmUnlimited() {
  return withMirrors(async (askedFor, notAskedFor) => {
    const asking = [];
    const silent = [];
    for (let round = 0; round < ROUNDS; round++) {
      asking.push(await pass(askedFor, { indexingMs: INDEXING_MS }));
      silent.push(await pass(notAskedFor, { indexingMs: INDEXING_MS }));
    }
    return compare('no limit', INDEXING_MS, 3, asking, silent);
  });
}

/** Runs something with two mirrors of the same files, each with a server: one asks for what it sent, the other does not. */
function withMirrors(action) {
  return withScratch((scratch) =>
    withServer((oneUrl) =>
      withServer((otherUrl) =>
        action(mirror(scratch, oneUrl, 'auto'), mirror(scratch, otherUrl, 'specified')),
      ),
    ),
  );
}

function mirror(scratch, baseUrl, operations) {
  const directory = join(scratch, operations);
  makeTree(directory, FILES, (n) => `article ${n}\n`);
  writeConfig(directory, {
    platform: { baseUrl, operations },
    rules: [{ match: '**', index: true }],
    upload: { concurrency: 16 },
  });
  return { directory, baseUrl };
}

/** A first pass to a platform that has nothing, with what the server saw of it. */
async function pass({ directory, baseUrl }, conditions) {
  forgetRecords(directory);
  await setConditions(baseUrl, {});
  await setConditions(baseUrl, { keep: true, ...conditions });
  const { seconds, processorSeconds } = await sync(directory, `${COUNT} uploaded`);
  return { seconds, processorSeconds, ...(await readTally(baseUrl)) };
}

function compare(what, indexingMs, longestLagSeconds, asking, silent) {
  const times = (figure) => median(asking.map(figure)) / median(silent.map(figure));
  const lags = asking.map(({ confirmation }) => confirmation.medianLagMs ?? Infinity);
  const unknown = asking.map(({ confirmation }) => FILES - confirmation.told);
  return {
    name: `${COUNT} files that take ${indexingMs / 1000} s to be indexed, ${what}`,
    figures: {
      'last upload s': median(asking.map(lastUploadSeconds)),
      'last upload s, not asking': median(silent.map(lastUploadSeconds)),
      'end s': median(asking.map(({ seconds }) => seconds)),
      'end s, not asking': median(silent.map(({ seconds }) => seconds)),
      'lists by ids': median(asking.map(({ operations }) => operations['list-ids'] ?? 0)),
      'processor time, times': times(({ processorSeconds }) => processorSeconds),
    },
    rows: [
      row('time to the last upload', times(lastUploadSeconds), '<=', 1.05, 'times'),
      row('requests', times(countRequests), '<=', 1.05, 'times'),
      row('searchable until known, median', median(lags) / 1000, '<=', longestLagSeconds, 's'),
      row('searchable and not known to be', Math.max(...unknown), '<=', 0, ''),
    ],
  };
}

/** From before the process was started. */
function lastUploadSeconds({ completed }) {
  return Math.max(...Object.values(completed)) / 1000;
}
