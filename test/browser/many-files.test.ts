import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { test, untilLive } from './browser.ts';
import { startDaemonSite, type DaemonSite } from './daemon-site.ts';

const PATIENCE = { timeout: 180_000, interval: 500 };

/** Of all that there are so many are refused, since they are too large: they stand in the state file and in the page. */
const FILES = 100_000;
const IN_SYNC = 2000;
const IN_A_DIRECTORY = 500;

function write(directory: string): void {
  for (let file = 0; file < FILES; file += 1) {
    const room = join(directory, 'docs', `room-${Math.floor(file / IN_A_DIRECTORY)}`);
    if (file % IN_A_DIRECTORY === 0) mkdirSync(room, { recursive: true });
    writeFileSync(join(room, `${file}.md`), file < IN_SYNC ? '' : 'too large');
  }
}

/** Processor time that this process takes in some real time, as a part of one core. */
async function loadDuring(ms: number): Promise<number> {
  const before = process.cpuUsage();
  const began = performance.now();
  await sleep(ms);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (performance.now() - began);
}

/** How long the server takes for the page, milliseconds, without the network: the best of some. */
async function timeToServe(address: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < 10; time += 1) {
    const began = performance.now();
    await (await fetch(address)).text();
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}

/** Opens the page's stream, as so many visitors would. */
async function visit({ address }: DaemonSite, visitors: number): Promise<void> {
  for (let visitor = 0; visitor < visitors; visitor += 1) {
    const request = get(`${address}events`, (response) => {
      response.resume();
      response.on('error', () => undefined);
    });
    request.on('error', () => undefined);
    onTestFinished(() => {
      request.destroy();
    });
    await new Promise((resolve) => request.once('response', resolve));
  }
}

test(
  '100,000 files: the page is small and soon made, and what is open costs a daemon at rest next to nothing',
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
    expect(await timeToServe(site.address)).toBeLessThan(100);
    expect(await page.locator('#not-in-sync li').count()).toBe(200);

    await visit(site, 50);
    // What is under way when somebody comes is not what being open costs.
    await sleep(3000);
    expect(await loadDuring(15_000)).toBeLessThan(0.02);

    // It is still live.
    site.write('docs/new.md', '');
    await page.waitForSelector('#events:has-text("uploaded docs/new.md")', { timeout: 30_000 });
    await page.close();
    await site.daemon.stop();
    // So many files are too many for what comes after a test.
    rmSync(join(site.directory, 'docs'), { recursive: true });
  },
);
