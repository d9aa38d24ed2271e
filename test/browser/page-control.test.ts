import { networkInterfaces } from 'node:os';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test } from './browser.ts';
import { CONTROL_SECRET, startDaemonSite, type DaemonSite } from './daemon-site.ts';

/** An address of this machine that a browser does not take for trustworthy: it tells nothing of where requests are from. */
const OUTER = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const HOSTS = ['127.0.0.1', 'localhost', ...(OUTER === undefined ? [] : [OUTER])];

async function startSite(): Promise<DaemonSite> {
  const service = { listen: '0.0.0.0:0', control: 'env:BOTSYNC_CONTROL' };
  return await startDaemonSite({
    fields: { service, watch: { poll: true, pollInterval: '1h' } },
    prepare: ({ write }) => {
      write('docs/a.md', 'a');
    },
  });
}

async function signIn(page: Page, secret = CONTROL_SECRET): Promise<void> {
  const field = page.getByLabel('Secret');
  if (!(await field.isVisible())) await page.getByText('Sign in to').click();
  await field.fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

for (const host of HOSTS)
  test(`at ${host === OUTER ? 'an address of the network' : host} people sign in, act, and sign out`, async ({
    open,
  }) => {
    const { address, log, emulator, write } = await startSite();
    // Refused forms are errors to the console.
    const expected = /403|opener-policy/iu;
    const page = await open(`${address.replace('0.0.0.0', host)}?text=a`, { expected });
    await signIn(page, 'a wrong secret');
    await page.getByText('That is not the secret that service.control names.').waitFor();
    await signIn(page);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(new URL(page.url()).search).toBe('?text=a');
    write('docs/b.md', 'b');
    await page.getByRole('button', { name: 'Rescan everything now' }).click();
    await page
      .locator('.notice:text-is("Everything is being checked, and failed files are retried.")')
      .waitFor();
    await expect.poll(() => emulator.readContent('bot-1', 'b.md')?.toString()).toBe('b');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Sign in to').waitFor();
    expect(log.filter((line) => line.startsWith('the page: '))).toEqual([
      'the page: a wrong secret',
      'the page: signed in',
      'the page: rescan',
      'the page: signed out',
    ]);
  });

test('without scripts people sign in and act as well', async ({ open }) => {
  const { address } = await startSite();
  const page = await open(address.replace('0.0.0.0', '127.0.0.1'), { scripts: false });
  await signIn(page);
  await page.getByRole('button', { name: 'Rescan everything now' }).click();
  await page.locator('.notice:text("Everything is being checked")').waitFor();
});

test('a page of another origin can neither send a form nor use the session', async ({ open }) => {
  const { address, log } = await startSite();
  const here = address.replace('0.0.0.0', '127.0.0.1');
  const page = await open(here, { expected: /./u, ignoresPolicy: true });
  await signIn(page);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const csrf = await page.locator('input[name=csrf]').inputValue();
  // The same site, and by its cookie the same browser; another port of this machine.
  const { address: elsewhere } = await startSite();
  await page.goto(elsewhere.replace('0.0.0.0', '127.0.0.1'));
  const form = `<form method="post" action="${here}control"><input name="csrf" value="${csrf}"><input name="action" value="action=rescan"></form>`;
  await page.evaluate(
    `document.body.innerHTML = ${JSON.stringify(form)}; document.querySelector('form').submit()`,
  );
  await page.getByText('only pages of this address may send forms').waitFor();
  expect(log).not.toContain('the page: rescan');
});
