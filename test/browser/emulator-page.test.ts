import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { start, store, upload, upsert } from '../emulator/fixture.ts';
import { excessWidth, PHONE, test, untilLive } from './browser.ts';
import { fillEmulator } from './emulator-world.ts';
/** The keys of the files that are shown. */
const shown = (page: Page): Promise<string[]> =>
  page.locator('#files tbody tr td:first-child bdi').allTextContents();

const HOSTILE = [
  '<img src=x onerror=alert(1)>.md',
  '"><script>alert(1)</script>',
  `'onmouseover='alert(1)`,
  '{{constructor.constructor("alert(1)")()}}',
  'a\u202egpj.exe',
  '\u2066\u2067\u202b.md',
  'שלום עולם.md',
  '\u0000\u0007\u001b[31m',
  ' two  spaces ',
  'w'.repeat(255),
  '字'.repeat(85),
];

test('follows what is sent, while somebody is at its form', async ({ open }) => {
  const { emulator } = await start();
  await store(emulator, 'a.md', 'abc');
  const page = await open(emulator.baseUrl);
  await untilLive(page);
  await page.evaluate('document.body.wasThere = true');
  await page.focus('[name=filter]');
  const sent = await upsert(emulator, { key: 'b.md', size: 3, index: true });
  await page.waitForSelector('tr:has-text("b.md") .status:text-is("upload pending")');
  await upload(sent, 'abc');
  await page.waitForSelector('tr:has-text("b.md") .status:text-is("indexing completed")');
  expect(await page.textContent('#files-title')).toContain('Files 2');
  expect(await page.textContent('#bots')).toContain('2 files, 6 B');
  await page.waitForSelector('#requests tr:has-text("upload"):has-text("b.md")');
  await emulator.conditions.set({ kind: 'unavailable' });
  await page.waitForSelector('text=Every request is answered with 503.');
  expect(await page.evaluate('document.body.wasThere')).toBe(true);
  expect(await page.evaluate('document.activeElement.name')).toBe('filter');
});

test('the filter works while it is typed; what is sent later passes through it', async ({ open }) => {
  const { emulator } = await start();
  for (const key of ['guide.md', 'guide.zip', 'other.md']) await store(emulator, key, 'abc', { index: true });
  const page = await open(emulator.baseUrl);
  await untilLive(page);
  await page.evaluate('document.body.wasThere = true');
  await page.locator('[name=filter]').pressSequentially('GUIDE');
  await expect.poll(() => shown(page)).toEqual(['guide.md', 'guide.zip']);
  expect(await page.textContent('#files-title')).toContain('2 files found');
  await page.selectOption('[name=status]', 'indexing_completed');
  await expect.poll(() => shown(page)).toEqual(['guide.md']);
  await store(emulator, 'a-guide.md', 'abc', { index: true });
  await store(emulator, 'b-other.md', 'abc', { index: true });
  await expect.poll(() => shown(page)).toEqual(['a-guide.md', 'guide.md']);
  expect(await page.inputValue('[name=filter]')).toBe('GUIDE');
  expect(await page.evaluate('document.body.wasThere')).toBe(true);
  // What is in the address is what is shown, and what a colleague sees who is sent it.
  await page.reload();
  expect(await shown(page)).toEqual(['a-guide.md', 'guide.md']);
  expect(await page.inputValue('[name=status]')).toBe('indexing_completed');
});

test('is complete without scripts, its filter too', async ({ open }) => {
  const { emulator } = await start();
  await fillEmulator(emulator);
  const page = await open(emulator.baseUrl, { scripts: false });
  expect(await shown(page)).toEqual(['docs/archive.zip', 'docs/guide.md', 'pending.mp4']);
  expect(await page.textContent('#live')).toBe('');
  await page.fill('[name=filter]', 'docs');
  await page.selectOption('[name=status]', 'indexing_completed');
  await page.click('text="Show"');
  expect(await shown(page)).toEqual(['docs/guide.md']);
  await page.click('text="All"');
  expect(await page.locator('#files pre').isVisible()).toBe(true);
  expect(await page.textContent('#files pre')).toContain('team');
  await page.click('text="docs/guide.md"');
  expect(await page.textContent('body')).toBe('abc');
});

test('names of files are text, whatever is in them, and stretch nothing', async ({ open }) => {
  const { emulator } = await start();
  const page = await open(emulator.baseUrl, PHONE);
  await untilLive(page);
  for (const key of HOSTILE) await store(emulator, key, 'abc', { tags: { [key]: key } });
  await expect.poll(async () => (await shown(page)).length).toBe(HOSTILE.length);
  await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
  expect(await page.locator('img, main script').count()).toBe(0);
  expect(await excessWidth(page)).toBe(0);
  const keys = await shown(page);
  expect(keys).toContain('<img src=x onerror=alert(1)>.md');
  expect(keys).toContain('a\\u202egpj.exe');
  expect(keys).toContain(' two  spaces ');
});

test('everything is in reach of the keyboard, and where one is is seen', async ({ open }) => {
  const { emulator } = await start();
  await fillEmulator(emulator);
  const page = await open(emulator.baseUrl);
  await untilLive(page);
  const reached: string[] = [];
  for (let presses = 0; presses < 9; presses += 1) {
    await page.keyboard.press('Tab');
    reached.push(
      await page.evaluate(`(document.activeElement.name || document.activeElement.textContent).trim()`),
    );
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  }
  expect(reached).toEqual([
    'Demo bot (demo-bot)3 files, 60 MB',
    'filter',
    'status',
    'Show',
    'docs/archive.zip',
    'All',
    'docs/guide.md',
    'All',
    'All',
  ]);
  await page.keyboard.press('Enter');
  await page.waitForSelector('tr:has-text("pending.mp4") pre:visible');
});
