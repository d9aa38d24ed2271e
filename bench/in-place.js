// Files of which only the facts change, so that their content need not be sent again: other tags, and a new expiry.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  countRequests,
  listFiles,
  makeTree,
  readTally,
  row,
  setConditions,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 1000;
const BYTES = 1_000_000;
const DAY_MS = 86_400_000;
/** Come first, and more than go out at once, so that all articles are sent when the platform's clock is known. */
const PAGES = 32;
const EVERY_ARTICLE = 'section-*/**';

/** A rule gives all files another tag, and takes one away. */
export function tagsInPlace() {
  return changed('tags', {
    before: { rules: [{ match: EVERY_ARTICLE, tags: { edition: 'spring', draft: 'yes' } }] },
    after: { rules: [{ match: EVERY_ARTICLE, tags: { edition: 'autumn' } }] },
    isRight: ({ tags }) => tags.edition === 'autumn' && !('draft' in tags),
  });
}

/**
 * All files are due for renewal: they were sent when the platform's clock stood 29 of the 30 days earlier that they
 * live.
 */
export function renewInPlace() {
  const rules = [{ match: EVERY_ARTICLE, expiresIn: '30d', renewBefore: '2d' }];
  return changed('expiry', {
    before: { rules, clockAheadMs: -29 * DAY_MS },
    after: { rules },
    isRight: ({ expiresAt }) => Date.parse(expiresAt) > Date.now() + 29 * DAY_MS,
  });
}

/** `before`, `after`: the rules, and the platform's clock; `isRight`: whether a file there is as it is to be after. */
function changed(what, { before, after, isRight }) {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      const count = (FILES + PAGES).toLocaleString('en');
      const content = randomBytes(BYTES);
      makeTree(directory, FILES, (n) => {
        content.writeUInt32BE(n);
        return content;
      });
      for (let n = 0; n < PAGES; n++) writeFileSync(join(directory, 'docs', `page-${n}.md`), `page ${n}\n`);
      // Records are trusted when the files were at rest for two seconds before they were read; others are sent whole.
      await delay(2500);
      await pass(before, `${count} uploaded`);
      if ((await countRight()) > 0) throw new Error('some files are as asked for before it is asked for');
      const { seconds } = await pass(after, 'In sync');
      const tally = await readTally(baseUrl);
      const right = await countRight();
      await pass(after, `${count} unchanged`);
      const next = await readTally(baseUrl);
      return {
        name: `${FILES} files of 1 MB, ${what} changed`,
        figures: { seconds, updates: tally.operations.update ?? 0 },
        rows: [
          row('requests', countRequests(tally), '<=', 1050, ''),
          row('content sent', tally.uploads.bytes, '<=', 0, 'bytes'),
          row('files that are not as asked for', FILES - right, '<=', 0, ''),
          row('requests of the next pass', countRequests(next), '<=', 0, ''),
        ],
      };

      /** How many articles are there as they are to be after the change. */
      async function countRight() {
        const articles = (await listFiles(baseUrl)).filter(({ key }) => key.startsWith('section-'));
        return articles.filter(isRight).length;
      }

      async function pass({ rules, clockAheadMs = 0 }, expected) {
        writeConfig(directory, { platform: { baseUrl }, rules });
        await setConditions(baseUrl, { keep: true, clockAheadMs });
        return sync(directory, expected);
      }
    }),
  );
}
