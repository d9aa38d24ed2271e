import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { expect, test as plainTest } from 'vitest';
import { startBrowser } from './chromium.ts';

/** How a page is looked at. */
export interface Look {
  /** CSS pixels; by default a desktop of 1280 × 800. */
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly scripts?: boolean;
  /** What the browser's console may complain about, such as a server that is away. */
  readonly expected?: RegExp;
  /** What is done before the page is loaded, such as to its clock. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Only for axe-core, which comes as a script from outside. */
  readonly ignoresPolicy?: boolean;
}

/** Opens an address in a window of its own, without cookies or history. */
export type OpenPage = (address: string, look?: Look) => Promise<Page>;

/**
 * A test in a real browser, one for all tests of a file. It fails too when the console or the policy of a page complains,
 * and when a page asks anything of another place than the one it came from. Without a browser it is skipped, which
 * standard error says; where `CI` is true it fails.
 */
export const test = plainTest.extend<{ browser: Browser | null; open: OpenPage }>({
  browser: [
    async ({}, use) => {
      const started = await startBrowser();
      if (started.kind === 'none') {
        const message = `No Chromium could be started (${started.reason}); set BOTSYNC_CHROMIUM to the path of one.`;
        if (process.env['CI'] === 'true') throw new Error(message);
        process.stderr.write(`Tests in a browser are skipped. ${message}\n`);
        await use(null);
        return;
      }
      await use(started.browser);
      await started.browser.close();
    },
    { scope: 'file' },
  ],
  open: async ({ browser, skip }, use) => {
    if (browser === null) {
      skip('no browser');
      return;
    }
    const complaints: string[] = [];
    const closing: (() => Promise<void>)[] = [];
    await use(async (address, look = {}) => {
      const context = await browser.newContext({
        viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
        colorScheme: look.dark === true ? 'dark' : 'light',
        reducedMotion: 'reduce',
        javaScriptEnabled: look.scripts ?? true,
        bypassCSP: look.ignoresPolicy ?? false,
      });
      closing.push(() => context.close());
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const { origin } = new URL(address);
      const complain = (text: string): void => {
        if (look.expected?.test(text) !== true) complaints.push(text);
      };
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complain(message.text());
      });
      page.on('pageerror', (error) => {
        complain(String(error));
      });
      page.on('dialog', (dialog) => {
        complain(`a dialog says ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) complain(`asks for ${url}`);
      });
      await look.prepare?.(page);
      await page.goto(address);
      return page;
    });
    for (const close of closing) await close();
    expect(complaints).toEqual([]);
  },
});

/** A narrow phone. */
export const PHONE: Look = { width: 360, height: 740 };

/** Waits until a page has its stream of events. */
export async function untilLive(page: Page): Promise<void> {
  await page.waitForSelector('#live:text-is("Live")');
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds wrong with a page that was opened with `ignoresPolicy`: rule and places, nothing when all is well. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found: {
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
  } = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`);
  return found.violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join('\n')}`,
  );
}

/** How much wider a page is than its window, in CSS pixels. */
export async function excessWidth(page: Page): Promise<number> {
  return await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
