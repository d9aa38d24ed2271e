// First passes over files that the platform has: with a new state file, against a pass in which nothing changed; when records move
// between a state file and the ledger of a cluster, and when a source is renamed.
import { setTimeout as delay } from 'node:timers/promises';
import { withDatabase } from './cluster.js';
import {
  countRequests,
  forgetRecords,
  makeTree,
  median,
  readTally,
  row,
  seedFiles,
  setConditions,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 10_000;
const BYTES = 4096;
const ROUNDS = 5;

export function adopt() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      const keys = makeTree(directory, FILES, contentOf);
      // Records are trusted when the files were at rest for two seconds before they were read.
      await delay(2500);
      const tags = { kind: 'article' };
      writeConfig(directory, { platform: { baseUrl }, rules: [{ match: '**', tags }] });
      const count = FILES.toLocaleString('en');
      await setConditions(baseUrl, { keep: true });
      await seedFiles(baseUrl, keys, contentOf, { contentType: 'text/markdown', tags });
      await sync(directory, 'In sync');
      const unchanged = [];
      const adopted = [];
      for (let round = 0; round < ROUNDS; round++) {
        unchanged.push(await passSeen(baseUrl, directory, `${count} unchanged`));
        forgetRecords(directory);
        adopted.push(await passSeen(baseUrl, directory, ''));
      }
      const after = await passSeen(baseUrl, directory, `${count} unchanged`);
      const seconds = (passes) => median(passes.map((pass) => pass.seconds));
      const processor = (passes) => median(passes.map((pass) => pass.processorSeconds));
      const most = (figure) => Math.max(...adopted.map(({ tally }) => figure(tally)));
      return {
        name: `${count} files that the platform has, new state file`,
        figures: {
          'adoption s': seconds(adopted),
          'nothing changed s': seconds(unchanged),
          'adoption CPU s': processor(adopted),
          'nothing changed CPU s': processor(unchanged),
        },
        rows: [
          row(
            'files sent',
            most(({ uploads }) => uploads.begun),
            '<=',
            0,
            '',
          ),
          row('requests', most(countRequests), '<=', 120, ''),
          row('time against nothing changed', seconds(adopted) / seconds(unchanged), '<=', 4, 'times'),
          row('requests of the next pass', countRequests(after.tally), '<=', 0, ''),
        ],
      };
    }),
  );
}

const MANY_FILES = 100_000;

/** Every way in which records of files that the platform has begin anew: each is a single pass, which sends nothing. */
export function adoptMoves() {
  return withScratch((directory) =>
    withDatabase(directory, (server) =>
      withServer(async (baseUrl) => {
        const keys = makeTree(directory, MANY_FILES, contentOf);
        await delay(2500);
        const configure = (name, isCluster) => {
          process.env.BOTSYNC_DATABASE = server.url();
          const cluster = { database: 'env:BOTSYNC_DATABASE', host: 'web1' };
          const sources = [{ name, directory: './docs', keyPrefix: '' }];
          writeConfig(directory, { platform: { baseUrl }, sources, ...(isCluster && { cluster }) });
        };
        await setConditions(baseUrl, { keep: true });
        await seedFiles(baseUrl, keys, contentOf, { contentType: 'text/markdown' });
        const moves = {
          'new state file': () => configure('docs', false),
          'to a ledger': () => configure('docs', true),
          'renamed in the ledger': () => configure('news', true),
          'back to a state file': () => {
            forgetRecords(directory);
            configure('news', false);
          },
          'renamed in the state file': () => configure('docs', false),
        };
        const passes = {};
        for (const [what, prepare] of Object.entries(moves)) {
          prepare();
          passes[what] = await passSeen(baseUrl, directory, 'In sync');
        }
        const most = (figure) => Math.max(...Object.values(passes).map(figure));
        return {
          name: `${MANY_FILES.toLocaleString('en')} files that the platform has: ${Object.keys(moves).join(', ')}`,
          figures: Object.fromEntries(
            Object.entries(passes).map(([what, { seconds }]) => [`${what} s`, seconds]),
          ),
          rows: [
            row(
              'files sent',
              most(({ tally }) => tally.uploads.begun),
              '<=',
              0,
              '',
            ),
            row(
              'requests',
              most(({ tally }) => countRequests(tally)),
              '<=',
              2100,
              '',
            ),
            row(
              'memory',
              most(({ peakMegabytes }) => peakMegabytes),
              '<=',
              200,
              'MB',
            ),
          ],
        };
      }),
    ),
  );
}

function contentOf(n) {
  return `article ${n}\n`.padEnd(BYTES, 'All work and no play. ');
}

/** A pass with what the server saw of it. */
async function passSeen(baseUrl, directory, expected) {
  await setConditions(baseUrl, { keep: true });
  const measured = await sync(directory, expected);
  return { ...measured, tally: await readTally(baseUrl) };
}
