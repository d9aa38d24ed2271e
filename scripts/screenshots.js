// node scripts/screenshots.js [DIRECTORY]: makes the pictures of the pages in docs/images/ anew, by the tests that look at the
// pages in a browser; with a directory also those that the documentation does not show, in every look.
import { spawnSync } from 'node:child_process';

const [directory] = process.argv.slice(2);
const env = {
  ...process.env,
  // Without a browser there is nothing to make.
  CI: 'true',
  BOTSYNC_SCREENSHOTS: '1',
  ...(directory === undefined ? {} : { BOTSYNC_PICTURES: directory }),
};
const { status } = spawnSync('npx', ['vitest', 'run', 'test/browser/pictures.test.ts'], {
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);
