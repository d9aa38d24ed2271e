// Removals against uploads of the same files, on a line on which every answer takes 80 ms.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  makeTree,
  readTally,
  row,
  setConditions,
  sync,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const FILES = 300;
const ANSWER_DELAY_MS = 80;

export function removals() {
  return withScratch((directory) =>
    withServer(async (baseUrl) => {
      // The first hundred stay: a source in which there is nothing left is halted.
      makeTree(directory, FILES + 100, (n) => `article ${n}\n`);
      writeConfig(directory, {
        platform: { baseUrl },
        removals: { mode: 'expire', maxCount: 10_000, maxFraction: 1 },
      });
      const topics = [1, 2, 3].map((n) => join(directory, 'docs', 'section-0', `topic-${n}`));
      await setConditions(baseUrl, { answerDelayMs: ANSWER_DELAY_MS });
      await sync(directory, `${FILES + 100} uploaded`);
      const uploads = FILES + 100;
      const uploadRate = uploads / (await spanSeconds(baseUrl));
      for (const topic of topics) rmSync(topic, { recursive: true });
      await setConditions(baseUrl, { answerDelayMs: ANSWER_DELAY_MS });
      await sync(directory, `${FILES} removed`);
      const removalRate = FILES / (await spanSeconds(baseUrl));
      return {
        name: `${FILES} removals, ${ANSWER_DELAY_MS} ms an answer`,
        figures: { 'removals/s': removalRate, 'uploads/s': uploadRate },
        rows: [row('rate against uploads', removalRate / uploadRate, '>=', 0.9, 'times')],
      };
    }),
  );
}

/** From the first request to the last, as the server saw them. */
async function spanSeconds(baseUrl) {
  const { clients, completed } = await readTally(baseUrl);
  return (Math.max(...Object.values(completed)) - clients[''].admitted[0]) / 1000;
}
