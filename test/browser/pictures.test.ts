import { mkdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { excessWidth, PHONE, test, untilLive, violations, type Look, type OpenPage } from './browser.ts';
import { fillSite, passOnce, startDaemonSite, type SiteOptions } from './daemon-site.ts';
import { startShop } from './emulator-world.ts';

/**
 * The pictures of the pages. `npm run screenshots` writes those of the documentation to docs/images/, and all of them
 * where `BOTSYNC_PICTURES` says; otherwise it is only tested that they can be made.
 */
const { BOTSYNC_SCREENSHOTS: documentation, BOTSYNC_PICTURES: everything } = process.env;
const ROOT = resolve(import.meta.dirname, '../..');

const MOST_BYTES = 150_000;

const LOOKS: Readonly<Record<string, Look>> = {
  light: { width: 1180, height: 780 },
  dark: { width: 1180, height: 780, dark: true },
  phone: PHONE,
  'phone-dark': { ...PHONE, dark: true },
};

/** What stands in the documentation, as `scene-look`. */
const IN_DOCUMENTATION = new Set([
  'emulator-light',
  'fine-light',
  'fine-dark',
  'fine-phone',
  'first-pass-light',
  'failure-light',
  'halted-light',
  'away-light',
  'not-searchable-light',
]);

/** A state of a daemon: how it comes about, and the words by which it is known to have come. */
interface Scene extends SiteOptions {
  readonly title: RegExp;
  /** What else is waited for. */
  readonly detail?: RegExp;
  /** And of what is said of the source. */
  readonly sources?: RegExp;
}

const INDEXED = { rules: [{ match: ['*.md', '*.html', '*.pdf'], index: true }] };

const SCENES: Readonly<Record<string, Scene>> = {
  fine: { fields: INDEXED, prepare: fillSite, title: /In sync/, sources: /9 files/ },
  'first-pass': {
    fields: { ...INDEXED, upload: { maxBytesPerSecond: 4_000_000 } },
    prepare: (site) => {
      fillSite(site);
      site.write('docs/media/tour.mp4', Buffer.alloc(60_000_000, 'tour'));
      site.write('docs/media/repair.mp4', Buffer.alloc(25_000_000, 'repair'));
    },
    title: /Sending files/,
    detail: /of 11 files sent; \d\d(?:\.\d)? MB of 85 MB/,
  },
  failure: {
    fields: { ...INDEXED, limits: { fileBytes: 2_000_000 } },
    prepare: (site) => {
      fillSite(site);
      site.write('docs/media/tour.mp4', Buffer.alloc(3_000_000, 'tour'));
    },
    title: /tour\.mp4 is refused/,
    sources: /9 files/,
  },
  halted: {
    fields: { ...INDEXED, removals: { mode: 'expire', maxCount: 3 } },
    prepare: async (site) => {
      fillSite(site);
      await passOnce(site);
      for (const gone of ['guides', 'reports', 'media'])
        rmSync(join(site.directory, 'docs', gone), { recursive: true });
    },
    title: /docs is halted/,
  },
  away: {
    fields: INDEXED,
    prepare: async (site) => {
      fillSite(site);
      await passOnce(site);
      for (let tour = 1; tour <= 24; tour += 1)
        site.write(`docs/tours/tour-${String(tour).padStart(2, '0')}.md`, `# Tour ${tour}\n`);
      await site.emulator.conditions.set({ kind: 'unavailable', status: 503 });
    },
    title: /platform is unreachable/,
    sources: /24 waiting/,
  },
  'not-searchable': {
    fields: INDEXED,
    emulator: { failIndexing: ['**/*.pdf'] },
    prepare: fillSite,
    title: /not searchable/,
    sources: /8 files/,
  },
};

/** Stops the page as it is, and names nothing of this machine. */
async function settle(page: Page, replaced: readonly (readonly [string, string])[]): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: true });
    document.dispatchEvent(new Event('visibilitychange'));
    for (const [from, to] of ${JSON.stringify(replaced)}) {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(from, to);
    }`);
}

async function take(page: Page, name: string): Promise<void> {
  const targets = [
    ...(everything === undefined ? [] : [resolve(ROOT, everything)]),
    ...(documentation !== undefined && IN_DOCUMENTATION.has(name) ? [join(ROOT, 'docs/images')] : []),
  ];
  if (targets.length === 0) targets.push(makeTemporaryDirectory('pictures'));
  for (const directory of targets) {
    mkdirSync(directory, { recursive: true });
    const path = join(directory, `page-${name}.png`);
    await page.screenshot({ path });
    expect(statSync(path).size).toBeLessThan(MOST_BYTES);
  }
}

/** A picture of an address in every look. */
async function takeAll(
  open: OpenPage,
  address: string,
  name: string,
  ready: (page: Page) => Promise<unknown>,
  replaced: readonly (readonly [string, string])[],
): Promise<void> {
  for (const [kind, look] of Object.entries(LOOKS)) {
    const page = await open(address, look);
    await untilLive(page);
    await ready(page);
    await settle(page, replaced);
    expect(await excessWidth(page)).toBe(0);
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(look.dark === true ? 'rgb(17, 21, 27)' : 'rgb(245, 247, 249)');
    await take(page, `${name}-${kind}`);
  }
  for (const look of [{}, { dark: true }, PHONE]) {
    const page = await open(address, { ...look, ignoresPolicy: true });
    await ready(page);
    // What is folded up has to be right as well.
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
    expect(await violations(page)).toEqual([]);
    for (const width of [360, 480, 700, 832, 1000, 1280, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await excessWidth(page)]).toEqual([width, 0]);
    }
  }
}

test('the emulator', async ({ open }) => {
  const emulator = await startShop();
  const replaced = [[new URL(emulator.baseUrl).host, '127.0.0.1:8787']] as const;
  await takeAll(open, `${emulator.baseUrl}/`, 'emulator', () => Promise.resolve(), replaced);
});

test.for(Object.entries(SCENES))('the daemon: %s', { timeout: 90_000 }, async ([name, scene], { open }) => {
  const site = await startDaemonSite(scene);
  const replaced = [
    [site.directory, '/srv/velo'],
    [hostname(), 'velo-server'],
    [new URL(site.emulator.baseUrl).host, 'api.botpress.cloud'],
  ] as const;
  const ready = async (page: Page): Promise<void> => {
    await expect.poll(() => page.textContent('#verdict-title'), { timeout: 20_000 }).toMatch(scene.title);
    if (scene.detail !== undefined)
      await expect.poll(() => page.textContent('#verdict'), { timeout: 20_000 }).toMatch(scene.detail);
    if (scene.sources !== undefined)
      await expect.poll(() => page.textContent('#sources'), { timeout: 20_000 }).toMatch(scene.sources);
  };
  await takeAll(open, site.address, name, ready, replaced);
});
