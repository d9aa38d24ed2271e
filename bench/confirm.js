// Files that take two seconds to be indexed: what asking for them costs beside sending them, and how soon it is known that
// the bot can search them. Side by side with the same pass when it asks for nothing (platform.operations "specified").
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

const INDEXING_MS = 2000;

/** As fast as both sides can: what asking costs is processor time. */
export function confirm() {
  return confirmed({ files: 10_000, rounds: 5, what: 'no limit' });
}

/** At the rate that the platform grants: what asking costs is requests that would else send files. */
export function confirmLimited() {
  return confirmed({ files: 3000, rounds: 1, what: '100 requests/s', rateLimit: { requests: 100 } });
}

function confirmed({ files, rounds, what, rateLimit }) {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      makeTree(directory, files, (n) => `article ${n}\n`);
      const measured = { specified: [], auto: [] };
      for (let round = 0; round < rounds; round++)
        for (const operations of Object.keys(measured)) measured[operations].push(await pass(operations));
      const of = (operations, figure) => median(measured[operations].map(figure));
      const times = (figure) => of('auto', figure) / of('specified', figure);
      const lags = measured.auto.map(({ confirmation }) => confirmation.medianLagMs ?? Infinity);
      const untold = measured.auto.map(({ confirmation }) => files - confirmation.told);
      return {
        name: `${files} files that take ${INDEXING_MS / 1000} s to be indexed, ${what}`,
        figures: {
          'last upload s': of('auto', lastUploadSeconds),
          'last upload s, not asking': of('specified', lastUploadSeconds),
          'end s': of('auto', ({ seconds }) => seconds),
          'end s, not asking': of('specified', ({ seconds }) => seconds),
          'lists by ids': of('auto', ({ operations }) => operations['list-ids'] ?? 0),
        },
        rows: [
          row('time to the last upload', times(lastUploadSeconds), '<=', 1.05, 'times'),
          row('requests', times(countRequests), '<=', 1.05, 'times'),
          row('searchable until known, median', median(lags) / 1000, '<=', 3, 's'),
          row('searchable and not known to be', Math.max(...untold), '<=', 0, ''),
        ],
      };

      /** A first pass to a platform that has nothing, with what the server saw. */
      async function pass(operations) {
        forgetRecords(directory);
        writeConfig(directory, {
          platform: { baseUrl, operations },
          rules: [{ match: '**', index: true }],
          upload: { concurrency: 16 },
        });
        await setConditions(baseUrl, {});
        await setConditions(baseUrl, { keep: true, indexingMs: INDEXING_MS, rateLimit });
        const { seconds } = await sync(directory, `${files.toLocaleString('en')} uploaded`);
        return { seconds, ...(await readTally(baseUrl)) };
      }
    }),
  );
}

/** From before the process was started. */
function lastUploadSeconds({ completed }) {
  return Math.max(...Object.values(completed)) / 1000;
}
