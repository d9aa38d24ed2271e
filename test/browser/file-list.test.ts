import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { excessWidth, PHONE, test, untilLive, violations } from './browser.ts';
import { passOnce, startDaemonSite, type DaemonSite } from './daemon-site.ts';

const HOSTILE = [
  '<img src=x onerror=alert(1)>.md',
  `"'><script>alert(1)<\u2215script>.md`,
  'a\u202egpj.exe.md',
  'line\r\nbreak\u0007.md',
  'w'.repeat(255),
];

/** 120 files in sync, one of which expires, 5 that are refused, one that cannot be searched, one that is kept. */
async function startLibrary(): Promise<DaemonSite> {
  const site = await startDaemonSite({
    fields: {
      limits: { fileBytes: 20 },
      rules: [
        { match: '*.pdf', index: true },
        { match: 'guide-001.md', expiresIn: '30d' },
      ],
    },
    emulator: { failIndexing: ['**/*.pdf', '*.pdf'] },
    prepare: async (one) => {
      for (let file = 0; file < 120; file += 1)
        one.write(`docs/guide-${String(file).padStart(3, '0')}.md`, 'short');
      one.write('docs/scan.pdf', 'no text');
      one.write('docs/old.md', 'old');
      await passOnce(one);
      rmSync(join(one.directory, 'docs/old.md'));
      for (const name of HOSTILE) one.write(`docs/${name}`, 'much more than twenty bytes');
    },
  });
  await expect
    .poll(async () => await (await fetch(site.address)).text(), { timeout: 20_000 })
    .toMatch(/5 refused[^]*1 not searchable[^]*1 kept/u);
  return site;
}

async function rows(page: Page): Promise<string[]> {
  const texts = await page.locator('#files tbody tr td:first-child').allTextContents();
  return texts.map((text) => text.trim());
}

const states = (page: Page): Promise<string[]> => page.locator('#files tbody .status').allTextContents();

async function expectFits(page: Page): Promise<void> {
  expect(await page.locator('img, main script').count()).toBe(0);
  for (const width of [360, 700, 1280, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    expect([width, await excessWidth(page)]).toEqual([width, 0]);
  }
}

test(
  'counts lead to the files, by page, state and path, without scripts',
  { timeout: 90_000 },
  async ({ open }) => {
    const site = await startLibrary();
    const page = await open(site.address, { scripts: false });
    await page.click('#sources a:text-is("120 files")');
    expect(new Set(await states(page))).toEqual(new Set(['stored']));
    const first = await rows(page);
    expect(first[0]).toBe('docs/guide-000.md');
    await page.click('text="Next page"');
    const second = await rows(page);
    expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([100, 20, 120]);
    expect(await page.locator('text="Next page"').count()).toBe(0);
    await page.click('text="First page"');
    expect(await rows(page)).toEqual(first);
    expect(await page.textContent('#files tr:has-text("guide-001.md")')).toMatch(
      /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in 30 days\)/u,
    );

    await page.selectOption('[name=state]', { label: 'refused: 5' });
    await page.click('text="Filter"');
    expect(await rows(page)).toHaveLength(5);
    expect(await page.textContent('#files tbody')).toContain('limits.fileBytes');
    expect((await rows(page)).join('\n')).toContain('docs/<img src=x onerror=alert(1)>.md');
    await expectFits(page);
    await page.fill('[name=text]', 'BREAK');
    await page.click('text="Filter"');
    expect(await rows(page)).toEqual(['docs/line\\u000d\\u000abreak\\u0007.md']);
    await page.goto(`${site.address}files?state=kept`);
    expect(await rows(page)).toEqual(['docs/old.md']);
    expect(await page.textContent('#files tbody')).toContain('no local file');
    await page.goto(`${site.address}files?state=unsearchable`);
    expect(await states(page)).toEqual(['not searchable']);
    await page.goto(`${site.address}files?state=to-remove`);
    expect(await page.textContent('#files')).toContain('No file is like that.');
  },
);

test('a file has rows, its request is folded, and its key, id and path can be copied', async ({ open }) => {
  const site = await startLibrary();
  const prepare = (page: Page): Promise<void> =>
    page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await open(`${site.address}files?text=guide-001`, { prepare });
  await page.click('#files tbody a');
  await untilLive(page);
  const read = async (label: string): Promise<string> =>
    (await page.textContent(`#explained dt:text-is("${label}") + dd`)) ?? '';
  expect(await read('Key')).toContain('guide-001.md');
  expect(await read('Record')).toBe('synced');
  expect(await read('Expires')).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in 30 days\)/u);
  expect(await page.locator('#explained details').getAttribute('open')).toBeNull();
  await page.click('text="Request that sends it"');
  expect(await page.textContent('#explained pre')).toContain('"key": "guide-001.md"');
  const copied = async (what: string): Promise<string> => {
    await page.click(`button:has-text("Copy ${what}")`);
    await page.waitForSelector('button:text-is("Copied")');
    await page.waitForSelector(`button:has-text("Copy ${what}")`);
    return await page.evaluate('navigator.clipboard.readText()');
  };
  const known = site.emulator.listFiles('bot-1').find(({ key }) => key === 'guide-001.md');
  expect(await copied('id')).toBe(known?.id);
  for (const name of HOSTILE) {
    await page.goto(`${site.address}?${new URLSearchParams({ file: `docs/${name}` }).toString()}`);
    expect([await copied('key'), await copied('path')]).toEqual([name, join(site.directory, 'docs', name)]);
    await expectFits(page);
  }
  // Browsers have no clipboard for an address that is neither encrypted nor of this machine.
  const plain = await open(`${site.address}?file=docs/guide-001.md`, {
    prepare: (one) =>
      one.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })"),
  });
  await plain.click('button:has-text("Copy key")');
  await plain.waitForSelector('button:text-is("Copied")');
  await plain.fill('#file', '');
  await plain.press('#file', 'Control+V');
  expect(await plain.inputValue('#file')).toBe('guide-001.md');
});

test(
  'list and file are accessible, light and dark, wide and on a phone',
  { timeout: 90_000 },
  async ({ open }) => {
    const site = await startLibrary();
    for (const look of [{}, { dark: true }, PHONE])
      for (const target of [
        'files',
        'files?state=refused',
        '?file=docs/guide-001.md',
        '?file=docs/nowhere.md',
      ]) {
        const page = await open(`${site.address}${target}`, { ...look, ignoresPolicy: true });
        await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
        expect([target, await violations(page)]).toEqual([target, []]);
        await expectFits(page);
        await page.close();
      }
  },
);
