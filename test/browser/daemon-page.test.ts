import { rmSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { excessWidth, PHONE, test, untilLive } from './browser.ts';
import { CONTROL_SECRET, startDaemonSite, type DaemonSite } from './daemon-site.ts';

/** Waits for the sentence that says how everything stands. */
async function untilTitle(page: Page, title: string | RegExp): Promise<void> {
  await expect.poll(() => page.textContent('#verdict-title')).toMatch(title);
}

const untilText = (page: Page, selector: string, text: string | RegExp): Promise<void> =>
  expect.poll(() => page.textContent(selector)).toMatch(text);

/** Makes the page remember that it is still the same one. */
const MARK = 'document.body.wasThere = true';
const isSame = (page: Page): Promise<unknown> => page.evaluate('document.body.wasThere === true');

async function signIn(page: Page): Promise<void> {
  await page.click('summary:has-text("Sign in")');
  await page.fill('#secret', CONTROL_SECRET);
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=Rescan everything now');
  await untilLive(page);
}

test('follows what is sent, without being loaded anew', async ({ open }) => {
  const site = await startDaemonSite({
    fields: { upload: { maxBytesPerSecond: 1_000_000 } },
    prepare: ({ write }) => {
      write('docs/a.md', 'one');
    },
  });
  const page = await open(site.address);
  await untilLive(page);
  await untilTitle(page, 'In sync');
  expect(await page.title()).toMatch(/^In sync – bot-1 – botsync on /);
  await page.evaluate(MARK);
  await page.fill('#file', 'half a wo');
  site.write('docs/b.md', 'two');
  await untilText(page, '#events', 'uploaded docs/b.md');
  await untilText(page, '#sources', '2 files');
  site.write('docs/large.bin', Buffer.alloc(5_000_000));
  await untilText(page, '#under-way', /docs\/large\.bin[^]*of 5 MB/);
  await untilText(page, '#events', 'uploaded docs/large.bin');
  await untilTitle(page, 'In sync');
  expect(await isSame(page)).toBe(true);
  expect(await page.inputValue('#file')).toBe('half a wo');
  expect(await page.evaluate('document.activeElement.id')).toBe('file');
});

test('shows a halt and takes its approval, from who has the secret', async ({ open }) => {
  const site = await startDaemonSite({
    prepare: ({ write }) => {
      write('docs/a.md', 'one');
      write('docs/b.md', 'two');
    },
  });
  const page = await open(site.address, { expected: /403/ });
  await untilTitle(page, 'In sync');
  rmSync(join(site.directory, 'docs'), { recursive: true });
  site.write('docs/c.md', 'three');
  await untilTitle(page, 'docs is halted');
  expect(await page.title()).toMatch(/^! docs is halted/);
  expect(await page.textContent('#verdict')).toContain('botsync approve docs');
  // For who may not, there is nothing to press.
  expect(await page.locator('button:has-text("Approve")').count()).toBe(0);
  await page.click('summary:has-text("Sign in")');
  await page.fill('#secret', 'guessed');
  await page.keyboard.press('Enter');
  await untilText(page, '#access', 'That is not the secret');
  await page.fill('#secret', CONTROL_SECRET);
  await page.keyboard.press('Enter');
  await page.click('#verdict summary:has-text("Approve docs")');
  await untilText(page, '#verdict', 'If you approve');
  expect(await page.textContent('#verdict .approval')).toContain('a.md');
  await page.click('#verdict button:has-text("Approve docs")');
  await untilTitle(page, 'In sync');
  await expect.poll(() => site.emulator.readContent('bot-1', 'c.md')?.toString()).toBe('three');
  expect(site.log).toContain('the page: approve');
  await page.click('text=Sign out');
  await page.waitForSelector('summary:has-text("Sign in")');
});

const HOSTILE = [
  '<img src=x onerror=alert(1)>.md',
  '"><script>alert(1)<\u2215script>.md',
  `'onmouseover='alert(1).md`,
  'a\u202egpj.exe.md',
  'line\nbreak\u0007\u001b[31m.md',
  'w'.repeat(255),
  '字'.repeat(85),
];

test('names of files are text, whatever is in them, and stretch nothing', async ({ open }) => {
  const site = await startDaemonSite({
    fields: { limits: { fileBytes: 1 } },
    prepare: ({ write }) => {
      for (const name of HOSTILE) write(`docs/${name}`, 'more than that');
    },
  });
  const page = await open(site.address, PHONE);
  await untilLive(page);
  await untilTitle(page, '7 files are refused');
  const check = async (): Promise<void> => {
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(await excessWidth(page)).toBe(0);
  };
  await check();
  await page.click('#not-in-sync summary');
  await check();
  const shown = await page.locator('#not-in-sync li').allTextContents();
  expect(shown.join('\n')).toContain('docs/<img src=x onerror=alert(1)>.md');
  expect(shown.join('\n')).toContain('docs/a\\u202egpj.exe.md');
  const addresses: string[] = [];
  for (const link of await page.locator('#not-in-sync li a').all())
    addresses.push(new URL((await link.getAttribute('href')) ?? '', site.address).href);
  expect(addresses.length).toBe(HOSTILE.length);
  for (const address of addresses) {
    await page.goto(address);
    await check();
    expect(await page.textContent('#explained')).toContain('limits.fileBytes');
  }
});

test('is complete without scripts: what it shows, the filter, what is known of a file', async ({ open }) => {
  const site = await startDaemonSite({
    fields: { limits: { fileBytes: 10 } },
    prepare: ({ write }) => {
      write('docs/a.md', 'one');
      write('docs/guide.md', 'much too large');
      write('docs/other.md', 'much too large');
    },
  });
  const page = await open(site.address, { scripts: false });
  await expect
    .poll(async () => {
      await page.reload();
      return await page.textContent('#verdict-title');
    })
    .toBe('2 files are refused');
  expect(await page.textContent('#live')).toBe('');
  await page.fill('[name=text]', 'guide');
  await page.click('text="Filter"');
  expect(await page.textContent('#not-in-sync')).toContain('1 of 2 files');
  expect(await page.locator('#not-in-sync li').allTextContents()).toEqual([
    expect.stringContaining('docs/guide.md') as string,
  ]);
  await page.fill('#file', 'docs/a.md');
  await page.click('text="Explain"');
  expect(await page.textContent('#explained dt:text-is("Record") + dd')).toBe('synced');
});

test('everything is in reach of the keyboard, and stays where one is while it changes', async ({ open }) => {
  const site = await startDaemonSite({
    fields: { limits: { fileBytes: 10 } },
    prepare: ({ write }) => {
      for (let file = 0; file < 7; file += 1) write(`docs/large-${file}.md`, 'much too large');
    },
  });
  const page = await open(site.address);
  await untilLive(page);
  await untilTitle(page, '7 files are refused');
  const reached: string[] = [];
  for (let presses = 0; presses < 11; presses += 1) {
    await page.keyboard.press('Tab');
    reached.push(
      await page.evaluate(`(({ name, textContent }) => name || textContent.trim().replace(/\\s+/g, ' '))(
        document.activeElement)`),
    );
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
  }
  expect(reached.slice(0, 10)).toEqual([
    'Skip to the content',
    'file',
    'Explain',
    'Sign in to approve, rescan and retry from this page',
    'all files',
    '7 refused',
    'source',
    'kind',
    'text',
    'Filter',
  ]);
  expect(reached[10]).toMatch(/^7 files refused/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#not-in-sync li:has-text("large-3.md")');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('docs/large-0.md');
  site.write('docs/a.md', 'a');
  await untilText(page, '#sources', '1 file,');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('docs/large-0.md');
  expect(await page.locator('#not-in-sync details').first().getAttribute('open')).toBe('');
});

/** Serves a page of somebody else, at another port. */
async function serveForeign(markup: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><link rel="icon" href="data:,"><title>foreign</title>${markup}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('pages of others read nothing, frame nothing and do nothing, though the visitor is signed in', async ({
  open,
}) => {
  const site = await startDaemonSite({
    prepare: ({ write }) => {
      write('docs/a.md', 'one');
    },
  });
  const { address } = site;
  const page = await open(address, { expected: /./ });
  await signIn(page);
  const foreign = await serveForeign(`<pre id="said">nothing</pre>
    <iframe src="${address}" title="framed"></iframe>
    <form method="post" action="${address}control"><input name="action" value="action=rescan"><button>Win</button></form>
    <script>
      const say = (what) => { document.getElementById('said').textContent += ' ' + what; };
      fetch('${address}', { credentials: 'include' }).then(() => say('READ'), () => say('unread'));
      const source = new EventSource('${address}events', { withCredentials: true });
      source.onmessage = source.onopen = () => say('HEARD');
      source.onerror = () => { say('unheard'); source.close(); };
    </script>`);
  await page.goto(foreign);
  await untilText(page, '#said', 'unread');
  await untilText(page, '#said', 'unheard');
  expect(await page.textContent('#said')).not.toMatch(/READ|HEARD/);
  const [, frame] = page.frames();
  expect(await frame?.locator('#verdict').count()).toBe(0);
  await page.click('text=Win');
  await untilText(page, 'body', 'only pages of this address may send forms');
  expect(site.log.filter((message) => message.startsWith('the page:'))).toEqual(['the page: signed in']);
});

/** What comes over a stream, so far. */
function listen({ address }: DaemonSite): { readonly heard: () => string } {
  let heard = '';
  const request = get(`${address}events`, (response) => {
    response.setEncoding('utf8').on('data', (text: string) => (heard += text));
    response.on('error', () => undefined);
  });
  request.on('error', () => undefined);
  onTestFinished(() => {
    request.destroy();
  });
  return { heard: () => heard };
}

test('no secret is in the page, its events or its answers', async ({ open }) => {
  const site = await startDaemonSite({
    prepare: ({ write }) => {
      write('docs/a.md', 'one');
    },
  });
  const { heard } = listen(site);
  const page = await open(site.address);
  await untilTitle(page, 'In sync');
  await signIn(page);
  // Failures tell addresses, among which are signed ones.
  site.emulator.faults.add({ operation: 'upload', kind: 'drop', times: 2 });
  site.emulator.faults.add({ operation: 'upload', kind: 'status', status: 500, times: 2 });
  site.write('docs/b.md', 'two');
  await expect.poll(heard).toContain('uploaded docs/b.md');
  await page.goto(`${site.address}?file=docs/b.md`);
  const shown = (await page.content()) + heard() + (await (await fetch(`${site.address}status`)).text());
  for (const secret of [site.emulator.token, site.emulator.userKey, CONTROL_SECRET, 'X-Amz-Signature'])
    expect(shown).not.toContain(secret);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  expect(shown).not.toContain(cookie?.value);
});
