import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { relativeText, type RelativeForm } from '../../src/page/markup.ts';
import { describeSpan } from '../../src/words/quantity.ts';
import { test, untilLive } from './browser.ts';
import { serveStream, type StreamServer } from './stream-server.ts';

const LOST = /ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|503/;

const sendParts = ({ send }: StreamServer, parts: Record<string, string>): void => {
  send('parts', JSON.stringify(parts));
};

/** Notes which elements of a list are there, so that a later one can be told from a new one. */
const MARK = `for (const one of document.querySelectorAll('*')) one.wasThere = true`;
const wasThere = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`document.querySelector('${selector}').wasThere === true`);

test('parts are changed in place: focus, typed text, selection, what is open and scrolling stay', async ({
  open,
}) => {
  const rows = (names: readonly string[], more = ''): string =>
    `<div id="part"><p>${names.length} files${more}</p>
      <details><summary>More</summary>inside</details><input name="q" value="">
      <div class="card" tabindex="0" style-free><table><tbody>
      ${names.map((name) => `<tr data-key="${name}"><td><a href="#${name}">${name}</a></td></tr>`).join('\n')}
      </tbody></table></div></div>`;
  const server = await serveStream(`${rows(['a', 'b', 'c'])}<p id="other">as it was</p>`);
  const page = await open(server.address);
  await untilLive(page);
  await page.evaluate(MARK);
  await page.click('summary');
  await page.fill('input', 'half a wo');
  await page.focus('a[href="#c"]');
  await page.evaluate(`getSelection().selectAllChildren(document.querySelector('a[href="#b"]'))`);

  sendParts(server, { part: rows(['b', 'b2', 'c'], ', <b>one</b> new'), absent: '<p id="absent">x</p>' });
  await page.waitForSelector('text=one new');

  expect(await page.locator('tr').allTextContents()).toEqual(['b', 'b2', 'c']);
  expect(await page.textContent('#part p')).toBe('3 files, one new');
  expect(await page.getAttribute('details', 'open')).toBe('');
  expect(await page.inputValue('input')).toBe('half a wo');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('c');
  expect(await page.evaluate('String(getSelection())')).toBe('b');
  expect(await wasThere(page, 'tr[data-key="c"]')).toBe(true);
  expect(await wasThere(page, 'tr[data-key="b2"]')).toBe(false);
  expect(await page.textContent('#other')).toBe('as it was');
});

test('a part may be the content of an element, or of the title; items may change places', async ({
  open,
}) => {
  const list = (order: string): string =>
    `<ul id="list">${Array.from(order)
      .map((key) => `<li id="i-${key}">${key}</li>`)
      .join('')}</ul>`;
  const server = await serveStream(`${list('abcd')}<p id="words">before</p>`);
  const page = await open(server.address);
  await untilLive(page);
  await page.evaluate(MARK);
  sendParts(server, {
    title: '<title id="title">two</title>',
    words: 'after <i>all</i>',
    list: list('dxca'),
  });
  await expect.poll(() => page.title()).toBe('two');
  expect(await page.innerHTML('#words')).toBe('after <i>all</i>');
  expect(await page.locator('li').allTextContents()).toEqual(['d', 'x', 'c', 'a']);
  expect(await wasThere(page, '#i-a')).toBe(true);
  // What comes is markup, and the policy lets none of it run.
  sendParts(server, { words: '<p id="words">done</p>' });
  await page.waitForSelector('#words:text-is("done")');
});

test('a lost connection is said, with the time, and made again; so is one after a refusal', async ({
  open,
}) => {
  const server = await serveStream('<main><p id="part">one</p></main>');
  const page = await open(server.address, { expected: LOST });
  await untilLive(page);
  server.refuseStreams(503);
  await page.waitForSelector('text=/^botsync has not answered since \\d\\d:\\d\\d:\\d\\d; retrying/');
  expect(await page.getAttribute('body', 'data-live-state')).toBe('lost');
  await expect
    .poll(() => page.evaluate(`getComputedStyle(document.querySelector('main')).opacity`))
    .toBe('0.45');
  await expect.poll(() => server.streams.length).toBeGreaterThan(1);
  server.refuseStreams(200);
  await untilLive(page);
  expect(await page.getAttribute('body', 'data-live-state')).toBe('on');
  sendParts(server, { part: '<p id="part">two</p>' });
  await page.waitForSelector('#part:text-is("two")');
});

test('a tab that nobody looks at has no connection, and comes up to date when somebody does', async ({
  open,
}) => {
  const server = await serveStream('<p id="part">one</p>');
  const page = await open(server.address);
  await untilLive(page);
  const look = (hidden: boolean): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await look(true);
  await expect.poll(server.open).toBe(0);
  // Whatever the page asked for before this has come by now.
  await page.evaluate(`fetch('/').then((answer) => answer.text())`);
  expect(server.streams).toEqual(['/events']);
  await look(false);
  await expect.poll(server.open).toBe(1);
});

test('the stream is that of the address; what is typed into a form changes both', async ({ open }) => {
  const form = `<form method="get" data-live-form><input name="filter" value="a"><input name="none" value="">
    <select name="state"><option value="">any</option><option>failed</option></select></form>`;
  const server = await serveStream(form);
  const page = await open(`${server.address}?filter=a`);
  await untilLive(page);
  expect(server.streams).toEqual(['/events?filter=a']);
  await page.fill('[name=filter]', 'ä&b');
  await page.selectOption('select', 'failed');
  await expect.poll(() => server.streams.at(-1)).toBe('/events?filter=%C3%A4%26b&state=failed');
  // As the page has it: this process is told of it some time later.
  expect(await page.evaluate('location.search')).toBe('?filter=%C3%A4%26b&state=failed');
  await expect.poll(server.open).toBe(1);
  expect(server.pages()).toBe(1);
});

test('the server can have a page loaded anew', async ({ open }) => {
  const server = await serveStream('<p>one</p>');
  const page = await open(server.address);
  await untilLive(page);
  server.send('reload', '');
  await expect.poll(server.pages).toBe(2);
});

test('without server-sent events the page is loaded anew after half a minute', async ({ open }) => {
  const server = await serveStream('<p>one</p>');
  const page = await open(server.address, {
    prepare: async (fresh) => {
      await fresh.clock.install();
      await fresh.addInitScript('delete window.EventSource');
    },
  });
  await page.clock.fastForward(31_000);
  await expect.poll(server.pages).toBe(2);
  expect(server.streams).toEqual([]);
});

const SPANS = [
  0,
  400,
  600,
  59_400,
  59_600,
  61_000,
  3_569_000,
  3_571_000,
  84_000_000,
  86_400_000 * 1.4,
  86_400_000 * 1234,
];

test('relative times go on by the clock of the server, in the words that the page has', async ({ open }) => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const cells = SPANS.flatMap((spanMs) =>
    (['ago', 'in', 'for'] as const).flatMap((form: RelativeForm) =>
      [now - spanMs, now + spanMs].map((at) => ({ form, at })),
    ),
  );
  const markup = cells
    .map(({ form, at }) => `<time datetime="${new Date(at).toISOString()}" data-relative="${form}">?</time>`)
    .join('');
  const server = await serveStream(markup, now);
  const page = await open(server.address, {
    prepare: async ({ clock }) => {
      await clock.install({ time: new Date('2030-01-01T00:00:00Z') });
      await clock.pauseAt(new Date('2030-01-01T00:00:10Z'));
    },
  });
  await untilLive(page);
  sendParts(server, {});
  await page.waitForSelector('time:first-of-type:text-is("0 s ago")');
  expect(await page.locator('time').allTextContents()).toEqual(
    cells.map(({ form, at }) => relativeText(form, at, now)),
  );
  await page.clock.runFor(5000);
  expect(await page.locator('time').allTextContents()).toEqual(
    cells.map(({ form, at }) => relativeText(form, at, now + 5000)),
  );
  server.send('clock', String(now + 3_600_000));
  await page.clock.runFor(1000);
  await page.waitForSelector('time:first-of-type:text-is("1 h ago")');
});

test('the words are those of the terminal', () => {
  for (const spanMs of SPANS) expect(relativeText('for', 0, spanMs)).toBe(describeSpan(spanMs));
});
