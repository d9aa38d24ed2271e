import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test, untilLive } from './browser.ts';
import { startDaemonSite } from './daemon-site.ts';

const PATIENCE = { timeout: 180_000, interval: 500 };

/** Of all that there are so many are refused, since they are too large: they stand in the state file and in the page. */
const FILES = 12_500;
const IN_SYNC = 500;
const IN_A_DIRECTORY = 500;

function write(directory: string): void {
  for (let file = 0; file < FILES; file += 1) {
    const room = join(directory, 'docs', `room-${Math.floor(file / IN_A_DIRECTORY)}`);
    if (file % IN_A_DIRECTORY === 0) mkdirSync(room, { recursive: true });
    writeFileSync(join(room, `${file}.md`), file < IN_SYNC ? '' : 'too large');
  }
}

test(
  'where thousands of files are refused the page is small, and stays live',
  {
    timeout: 400_000,
  },
  async ({ open }) => {
    const site = await startDaemonSite({
      fields: { limits: { fileBytes: 1 }, watch: { rescan: '1h' } },
      prepare: ({ directory }) => {
        write(directory);
      },
    });
    const page = await open(site.address);
    await expect
      .poll(() => page.textContent('#verdict-title'), PATIENCE)
      .toBe('At least 10,000 files are refused');
    await untilLive(page);
    await page.waitForSelector('#under-way:has-text("Waiting for changes")', { timeout: 60_000 });

    const markup = await (await fetch(site.address)).text();
    expect(Buffer.byteLength(markup)).toBeLessThan(200_000);
    expect(await page.locator('#not-in-sync li').count()).toBe(200);

    // It is still live.
    site.write('docs/new.md', '');
    await page.waitForSelector('#events:has-text("uploaded docs/new.md")', { timeout: 30_000 });
    await page.close();
    await site.daemon.stop();
    // So many files are too many for what comes after a test.
    rmSync(join(site.directory, 'docs'), { recursive: true });
  },
);
